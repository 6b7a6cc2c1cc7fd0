// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Remembers which nodes of a tally the callers in call chains became, so that what was seen before
// is not located again.
//
// Each beginning of a chain, from the outermost caller on, is known by 128 bits of a hash with a
// random seed: two that differ meet once in 2^64 or so, and nobody can make them meet. What it
// became holds for a stretch of time only, because the same words mean something else after an exec
// or another mapping. Of a fixed size: the newest of two that want one slot stays.
#ifndef ANALYZE_STACK_MEMO_H
#define ANALYZE_STACK_MEMO_H

#include "analyze/chain.h"

struct chain_key {
	uint64_t first, second;
};

struct stack_memo_slot {
	struct chain_key key;
	// From the first until before the second of these times.
	uint64_t from, to;
	// The tally's node.
	uint32_t node;
};

enum { STACK_MEMO_SLOTS = 1 << 15 };

struct stack_memo {
	struct stack_memo_slot *slots;
	struct chain_key seed;
	// Of the chain given last: the key of what is called from its entry I (the entry and its
	// callers).
	ARRAY_OF(struct chain_key) keys;
};

// SEED is the same for all memos of a run.
struct imp_error *stack_memo_init(struct stack_memo *memo, const struct chain_key *seed) MUST_CHECK;
void stack_memo_fini(struct stack_memo *memo);

// Computes the keys of CHAIN's entries below the node ROOT in process PID. Chains that stay in the
// kernel have the same keys in every process.
struct imp_error *stack_memo_ask(struct stack_memo *memo, const struct chain *chain, uint32_t root,
				 uint32_t pid) MUST_CHECK;

// The slot for entry INDEX of the chain asked for last: what stands there may be another chain's.
static inline struct stack_memo_slot *stack_memo_slot(const struct stack_memo *memo, size_t index)
{
	return &memo->slots[memo->keys.items[index].first % STACK_MEMO_SLOTS];
}

static inline bool stack_memo_holds(const struct stack_memo *memo, size_t index, uint64_t time)
{
	const struct chain_key *key = &memo->keys.items[index];
	const struct stack_memo_slot *slot = stack_memo_slot(memo, index);
	return slot->key.first == key->first && slot->key.second == key->second &&
	       time >= slot->from && time < slot->to;
}

#endif
