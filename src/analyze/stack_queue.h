// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Stacks on their way into a tally.
//
// What a tally knows of a stack lies anywhere in memory, and waiting for it costs more than all
// else that is done with a sample. So stacks are taken in a few dozen at a time: while one is
// read and located, what the others will need is on its way.
#ifndef ANALYZE_STACK_QUEUE_H
#define ANALYZE_STACK_QUEUE_H

#include "profile/tally.h"

enum { STACK_QUEUE_ROOM = 32 };

// A call, and the key of the stack that ends with it.
struct stack_step {
	struct stack_key key;
	struct spot spot;
};

struct queued_stack {
	// Where the steps begin: the key of a node that the tally has, or that an earlier stack in
	// the queue leads to.
	struct stack_key above;
	// The last of `count` steps from `first` on is where the sample was taken.
	size_t first, count;
	uint64_t weight;
};

// Zero-initialised is empty.
struct stack_queue {
	struct queued_stack stacks[STACK_QUEUE_ROOM];
	size_t count;
	ARRAY_OF(struct stack_step) steps;
};

void stack_queue_fini(struct stack_queue *queue);

// Begins a stack below ABOVE. There is room: see stack_queue_end().
void stack_queue_begin(struct stack_queue *queue, const struct stack_key *above);

// Goes down by SPOT. *KEY is that of where it goes down from, and becomes that of where it leads.
struct imp_error *stack_queue_step(struct stack_queue *queue, const struct spot *spot,
				   struct stack_key *key) MUST_CHECK;

// Ends a stack of at least one step, at which one sample of WEIGHT was taken. Hands what is queued
// to TALLY when no more has room.
struct imp_error *stack_queue_end(struct stack_queue *queue, struct tally *tally,
				  uint64_t weight) MUST_CHECK;

// Hands all that is queued to TALLY, in the order in which it came.
struct imp_error *stack_queue_flush(struct stack_queue *queue, struct tally *tally) MUST_CHECK;

#endif
