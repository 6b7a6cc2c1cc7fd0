// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The user's part of call chains, from the registers and the piece of stack that samples carry
// (perf's --call-graph dwarf): each image that frames lie in is found by its identity, verified,
// and opened once for all threads.
#ifndef ANALYZE_STACK_WALK_H
#define ANALYZE_STACK_WALK_H

#include "analyze/chain.h"
#include "find/finder.h"
#include "model/unwind_end.h"
#include "perfdata/recording.h"
#include "timeline/timeline.h"

struct stack_walk;

// All lent until stack_walk_free(); TIMELINE is finished.
struct imp_error *stack_walk_new(const struct recording *recording, const struct timeline *timeline,
				 struct finder *finder, struct stack_walk **ret) MUST_CHECK;
void stack_walk_free(struct stack_walk *walk);

// What became of the samples that carried a stack.
struct stack_walk_sums {
	// Samples, and what they weigh, by why their chain ends.
	uint64_t samples[UNWIND_ENDS], weight[UNWIND_ENDS];
	// Samples with frames that were left by their frame pointer, because nothing describes
	// them.
	uint64_t by_frame_pointer;
	// By number of the timeline's images: samples whose chain ends there because
	// it was not found, or describes the frame not or wrongly.
	uint64_t *by_image;
	size_t image_count;
};

void stack_walk_sums_fini(struct stack_walk_sums *sums);
struct imp_error *stack_walk_sums_merge(struct stack_walk_sums *sums,
					const struct stack_walk_sums *from) MUST_CHECK;

// One for each thread.
struct stack_walker;

struct imp_error *stack_walker_new(struct stack_walk *walk, struct stack_walker **ret) MUST_CHECK;
void stack_walker_free(struct stack_walker *walker);

// Appends to CHAIN, which chain_read() made of SAMPLE, the user's frames that SAMPLE's registers
// and stack show; nothing where it has none, or its chain has callers in user mode already. TIME as
// for the timeline. The end is counted. Errors are for memory.
struct imp_error *stack_walk_extend(struct stack_walker *walker, const struct sample *sample,
				    uint64_t time, struct chain *chain) MUST_CHECK;

// Moves what WALKER has counted to RET.
void stack_walker_take_sums(struct stack_walker *walker, struct stack_walk_sums *ret);

#endif
