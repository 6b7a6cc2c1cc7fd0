// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The second pass: all samples of a recording, in any order and on all processors, each to where
// its frames were, summed up.
#ifndef ANALYZE_GATHER_H
#define ANALYZE_GATHER_H

#include "analyze/deferred.h"
#include "analyze/sample_choice.h"
#include "analyze/stack_walk.h"
#include "perfdata/recording.h"
#include "profile/tally.h"
#include "timeline/timeline.h"

struct gather_options {
	// Whole call chains; otherwise the sampled addresses alone.
	bool with_chains;
	// Only in which object a frame was, not where in it: fewer spots.
	bool objects_only;
	// What tasks are told apart by, beside their command names.
	bool by_pid, by_tid, by_cpu, by_cgroup, by_cgroup_id;
	// Samples carry no time: their position serves as it did for TIMELINE.
	bool has_no_times;
	// Lent; NULL when there are none.
	const struct deferred_chains *deferred;
	// How copied stacks become callers; NULL: not at all. Lent.
	struct stack_walk *walk;
	// Which samples are meant; NULL: all. Lent.
	const struct sample_choice *choice;
};

struct gathered {
	// Objects of its spots are numbers of the timeline's images.
	struct tally tally;
	uint64_t samples, unreadable_samples, samples_without_address;
	// Samples that the choice does not take.
	uint64_t left_out;
	// Samples whose chain lacks its user part, which was to come in a later record.
	uint64_t unjoined_chains;
	// Of the samples that have a time.
	uint64_t first_time, last_time;
	// Some sample has a call chain.
	bool has_chains;
	// Of the samples with a copied stack.
	struct stack_walk_sums walked;
	// What the first sample that could not be read said; owned, may be NULL.
	char *first_fault;
};

void gathered_fini(struct gathered *gathered);

// The sums, not their numbering, are the same for every number of workers.
struct imp_error *gather(struct recording *recording, const struct timeline *timeline,
			 const struct gather_options *options, struct gathered *ret) MUST_CHECK;

#endif
