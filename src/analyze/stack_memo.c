// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashing call chains.
#include "analyze/stack_memo.h"

#include <stdlib.h>

#include "analyze/chain.h"
#include "base/hash.h"

struct imp_error *stack_memo_init(struct stack_memo *memo, const struct chain_key *seed)
{
	memo->seed = *seed;
	memo->slots = calloc(STACK_MEMO_SLOTS, sizeof *memo->slots);
	return memo->slots ? NULL : &imp_error_no_memory;
}

void stack_memo_fini(struct stack_memo *memo)
{
	free(memo->slots);
	memo->slots = NULL;
}

// Two hashes whose states differ from the first word on.
static inline void mix(struct chain_key *key, uint64_t word)
{
	key->first = hash_mix(key->first, word);
	key->second = hash_mix(key->second + UINT64_C(0x9e3779b97f4a7c15), word);
}

// Modes in which an address means the same in every process.
static bool is_shared(unsigned cpumode)
{
	return cpumode == MISC_KERNEL || cpumode == MISC_HYPERVISOR;
}

struct chain_key chain_key_of(const struct stack_memo *memo, const struct sample *sample,
			      uint32_t root)
{
	struct chain_key key = memo->seed;
	unsigned cpumode = sample->cpumode;
	bool is_of_process = false;
	// What stands for the sampled address is no caller.
	bool is_head = sample->has_ip;
	mix(&key, (uint64_t)root << 32 | cpumode << 1 | sample->has_ip);
	for (uint64_t i = 0; i < sample->chain.count; i++) {
		uint64_t word = word_at(&sample->chain, i);
		if (word >= CHAIN_CONTEXT_MAX) {
			cpumode = chain_cpumode(word);
		} else if (is_head) {
			is_head = false;
			if (cpumode == sample->cpumode)
				continue;
		}
		is_of_process |= !is_shared(cpumode);
		mix(&key, word);
	}
	if (is_of_process)
		mix(&key, sample->pid);
	return key;
}
