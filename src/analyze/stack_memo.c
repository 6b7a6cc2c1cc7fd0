// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashing call chains.
#include "analyze/stack_memo.h"

#include <stdlib.h>

#include "base/hash.h"

struct imp_error *stack_memo_init(struct stack_memo *memo, const struct stack_key *seed)
{
	memo->seed = *seed;
	memo->marks = calloc(STACK_MEMO_SLOTS, sizeof *memo->marks);
	memo->slots = calloc(STACK_MEMO_SLOTS, sizeof *memo->slots);
	return memo->marks && memo->slots ? NULL : &imp_error_no_memory;
}

void stack_memo_fini(struct stack_memo *memo)
{
	free(memo->marks);
	free(memo->slots);
	memo->marks = NULL;
	memo->slots = NULL;
	array_fini(&memo->keys);
}

// Two hashes whose states differ from the first word on. TAG goes in beside the word, so that no
// word can stand for it.
static inline void mix(struct stack_key *key, uint64_t tag, uint64_t word)
{
	key->first = hash_mix(key->first + tag, word);
	key->second = hash_mix(key->second - tag, ~word);
}

// Modes in which an address means the same in every process.
static inline bool is_shared(unsigned cpumode)
{
	return cpumode == MISC_KERNEL || cpumode == MISC_HYPERVISOR;
}

struct imp_error *stack_memo_ask(struct stack_memo *memo, const struct chain *chain, uint32_t root,
				 uint32_t pid)
{
	size_t count = chain->entries.count;
	memo->keys.count = 0;
	if (!array_reserve(&memo->keys, count))
		return &imp_error_no_memory;
	memo->keys.count = count;
	struct stack_key key = memo->seed;
	mix(&key, 0, root);
	for (size_t i = count; i-- > 0;) {
		const struct chain_entry *entry = &chain->entries.items[i];
		uint64_t owner = is_shared(entry->cpumode) ? 0 : pid;
		uint64_t traits = owner << 8 | (uint64_t)entry->cpumode << 1 | entry->is_return;
		mix(&key, traits * UINT64_C(0x9e3779b97f4a7c15), entry->address);
		memo->keys.items[i] = key;
	}
	return NULL;
}
