// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a process has mapped now: read as text, and each file that is new asked for its build ID
// with PROCMAP_QUERY where the kernel knows it (6.11).
#ifndef LIVE_MAPS_H
#define LIVE_MAPS_H

#include "base/array.h"
#include "live/mapped_file.h"

// In the order of addresses.
struct mappings {
	struct mapping *items;
	size_t count;
	size_t room;
	// What was read last, kept for its room.
	struct buffer text;
};

void mappings_fini(struct mappings *mappings);
#define _cleanup_mappings_ __attribute__((cleanup(mappings_fini)))

struct maps_options {
	// All mappings, not only those that can be executed.
	bool all;
	// As if the kernel did not know PROCMAP_QUERY.
	bool text;
};

// Appends the mappings of process PID to RET; OPTIONS may be NULL. The files they name go to FILES
// with their build IDs. No mappings and PROC_READ: a kernel thread or a zombie.
struct imp_error *maps_read(const struct proc *proc, uint32_t pid,
			    const struct maps_options *options, struct mapped_files *files,
			    struct mappings *ret, enum proc_outcome *outcome) MUST_CHECK;

// Reads one line of maps text, from *AT to END, and moves *AT behind it. False at the end. A line
// that is none is skipped.
bool maps_next_line(const char **at, const char *end, struct raw_mapping *ret);

#endif
