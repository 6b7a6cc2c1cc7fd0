// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The functions of run-time compilers in the timeline: a process that maps a jit-PID.dump has what
// that file says mapped, from the times on that it says.
#ifndef ANALYZE_JIT_CODE_H
#define ANALYZE_JIT_CODE_H

#include "base/array.h"
#include "base/log.h"
#include "perfdata/recording.h"
#include "timeline/timeline.h"

// A mapping of a dump.
struct jit_mention {
	// Owned.
	char *path;
	uint32_t pid;
	// 0 when it was mapped before the recording began.
	uint64_t time_ns;
};

struct jit_mentions {
	ARRAY_OF(struct jit_mention) all;
};

void jit_mentions_fini(struct jit_mentions *mentions);

// Keeps RECORD, an MMAP or MMAP2, if it maps a dump.
struct imp_error *jit_mentions_note(struct jit_mentions *mentions, const struct events *events,
				    const struct record *record) MUST_CHECK;

// Adds what the dumps say to TIMELINE, which is not finished yet. A dump is read where it was
// written or beside the recording, and used only if it is of that process: its own number is that
// of its name, and its functions are not older than the mapping. Its times and RECORDING's must be
// of one clock. LOG tells of those that cannot be used.
struct imp_error *jit_mentions_add(const struct jit_mentions *mentions,
				   const struct recording *recording, struct timeline *timeline,
				   const struct log *log) MUST_CHECK;

#endif
