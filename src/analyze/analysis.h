// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A recording in, a profile out: both passes, and what the recording says of itself. Names come
// after that (spot_names.h).
#ifndef ANALYZE_ANALYSIS_H
#define ANALYZE_ANALYSIS_H

#include "analyze/sample_choice.h"
#include "base/log.h"
#include "find/finder.h"
#include "profile/profile.h"

struct analysis_options {
	// Lent; NULL for silence.
	const struct log *log;
	// Where what cannot be read in place is unpacked to; NULL: /tmp. Lent.
	const char *temporary_directory;
	// Threads; 0: one for each processor.
	unsigned workers;
	// Whole call chains, or the sampled addresses alone.
	bool with_chains;
	// Only which object a frame was in.
	bool objects_only;
	// What tasks are told apart by, beside their command names.
	bool by_pid, by_tid, by_cpu, by_cgroup, by_cgroup_id;
	// With whole chains: finds the images by which copied stacks (--call-graph dwarf) become
	// callers. Lent; NULL: such samples show their own address only.
	struct finder *finder;
	// Which samples are meant; NULL: all. Lent, and settled here.
	struct sample_choice *choice;
};

// Reads the recording at PATH ("-" for standard input). The profile is settled and has no names.
struct imp_error *analyze(const char *path, const struct analysis_options *options,
			  struct profile **ret) MUST_CHECK;

#endif
