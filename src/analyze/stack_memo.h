// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Remembers which stack the raw words of a call chain became, so that callers that were seen before
// cost one look. The sampled address itself is left out: it changes from sample to sample where its
// callers do not.
//
// A chain is known by 128 bits of a hash with a random seed: two that differ meet once in 2^64
// chains or so, and nobody can make them meet. What it became holds for a stretch of time only,
// because the same words mean something else after an exec or another mapping. Of a fixed size: the
// newest of two that want one slot stays.
#ifndef ANALYZE_STACK_MEMO_H
#define ANALYZE_STACK_MEMO_H

#include "base/error.h"
#include "perfdata/sample.h"

struct chain_key {
	uint64_t first, second;
};

struct stack_memo_slot {
	struct chain_key key;
	// From the first until before the second of these times.
	uint64_t from, to;
	// The tally's node; 0 (a root) in slots that are free.
	uint32_t node;
};

enum { STACK_MEMO_SLOTS = 1 << 14 };

struct stack_memo {
	struct stack_memo_slot *slots;
	struct chain_key seed;
};

// SEED is the same for all memos of a run.
struct imp_error *stack_memo_init(struct stack_memo *memo, const struct chain_key *seed) MUST_CHECK;
void stack_memo_fini(struct stack_memo *memo);

// The key of the callers of SAMPLE below the node ROOT, as chain_read() gives them. Those that stay
// in the kernel have the same key in every process.
struct chain_key chain_key_of(const struct stack_memo *memo, const struct sample *sample,
			      uint32_t root);

// The slot for KEY: what stands there may be another chain's.
static inline struct stack_memo_slot *stack_memo_slot(const struct stack_memo *memo,
						      const struct chain_key *key)
{
	return &memo->slots[key->first % STACK_MEMO_SLOTS];
}

static inline bool stack_memo_holds(const struct stack_memo_slot *slot, const struct chain_key *key,
				    uint64_t time)
{
	return slot->key.first == key->first && slot->key.second == key->second &&
	       time >= slot->from && time < slot->to;
}

#endif
