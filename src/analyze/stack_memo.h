// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Remembers which stacks of a tally the callers in call chains became, so that what was seen before
// is not located again.
//
// Each beginning of a chain, from the outermost caller on, is known by 128 bits of a hash with a
// random seed: two that differ meet once in 2^64 or so, and nobody can make them meet. What it
// became holds for a stretch of time only, because the same words mean something else after an exec
// or another mapping. Of a fixed size: the newest of two that want one slot stays.
#ifndef ANALYZE_STACK_MEMO_H
#define ANALYZE_STACK_MEMO_H

#include "analyze/chain.h"
#include "profile/tally.h"

struct stack_memo_slot {
	// The second half of the chain's key.
	uint64_t rest;
	// From the first until before the second of these times.
	uint64_t from, to;
	// Of the stack in the tally.
	struct stack_key place;
};

enum { STACK_MEMO_SLOTS = 1 << 15 };

struct stack_memo {
	// The first halves of the slots' keys stand apart: most looks find another chain's, and
	// these are few enough to be near.
	uint64_t *marks;
	struct stack_memo_slot *slots;
	struct stack_key seed;
	// Of the chain given last: the key of what is called from its entry I (the entry and its
	// callers).
	ARRAY_OF(struct stack_key) keys;
};

// SEED is the same for all memos of a run.
struct imp_error *stack_memo_init(struct stack_memo *memo, const struct stack_key *seed) MUST_CHECK;
void stack_memo_fini(struct stack_memo *memo);

// Computes the keys of CHAIN's entries below the node ROOT in process PID. Chains that stay in the
// kernel have the same keys in every process.
struct imp_error *stack_memo_ask(struct stack_memo *memo, const struct chain *chain, uint32_t root,
				 uint32_t pid) MUST_CHECK;

// What is remembered of entry INDEX of the chain asked for last, at TIME; NULL when nothing is.
static inline const struct stack_memo_slot *stack_memo_find(const struct stack_memo *memo,
							    size_t index, uint64_t time)
{
	const struct stack_key *key = &memo->keys.items[index];
	size_t at = key->first % STACK_MEMO_SLOTS;
	if (memo->marks[at] != key->first)
		return NULL;
	const struct stack_memo_slot *slot = &memo->slots[at];
	bool holds = slot->rest == key->second && time >= slot->from && time < slot->to;
	return holds ? slot : NULL;
}

// Remembers PLACE for that entry, from FROM until before TO.
static inline void stack_memo_keep(const struct stack_memo *memo, size_t index,
				   const struct stack_key *place, uint64_t from, uint64_t to)
{
	const struct stack_key *key = &memo->keys.items[index];
	size_t at = key->first % STACK_MEMO_SLOTS;
	memo->marks[at] = key->first;
	memo->slots[at] = (struct stack_memo_slot){ key->second, from, to, *place };
}

#endif
