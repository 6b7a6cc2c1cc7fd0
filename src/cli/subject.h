// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One image as people name it: a build ID or its first digits, a file, an address or a path in a
// process, running or in a snapshot, a line of /proc/PID/maps.
#ifndef CLI_SUBJECT_H
#define CLI_SUBJECT_H

#include "cli/options.h"
#include "find/finder.h"

struct subject {
	struct image image;
	// Owns image.path; NULL when only the ID is known.
	char *path;
	// Where in the image, when the words name an address.
	bool has_offset;
	file_off offset;
	// The process and its mapping, when the words name one; pid 0 otherwise.
	uint32_t pid;
	uint64_t start, end;
	// The image has no ID of its own: what stands at the path is meant as it is.
	bool is_only_path;
};

// What WORDS mean. FINDER completes IDs and learns of the process. PID (0: none) is the process
// whose maps a line comes from. IMP_ERR_USAGE when the words mean nothing or several builds,
// IMP_ERR_SYSTEM when what they name is not there.
struct imp_error *subject_read(struct finder *finder, const struct operands *words, uint32_t pid,
			       struct subject *ret) MUST_CHECK;
// What WORDS mean in the snapshot or core file NAME: "[PID] ADDRESS" or "[PID] PATH", PID when it
// is not given otherwise (0: the only process).
struct imp_error *subject_read_snapshot(const char *name, const struct operands *words,
					uint32_t pid, struct subject *ret) MUST_CHECK;
void subject_fini(struct subject *subject);

// Finds the subject's files. When it was named by an ID alone, whatever it is: a program, a module,
// a kernel.
struct imp_error *subject_find(struct finder *finder, struct subject *subject,
			       const struct finding **ret) MUST_CHECK;

#endif
