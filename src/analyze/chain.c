// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading call chains.
//
// Source: enum perf_callchain_context in include/uapi/linux/perf_event.h of Linux 6.19.
#include "analyze/chain.h"

uint8_t chain_cpumode(uint64_t marker)
{
	switch (marker) {
	case CHAIN_CONTEXT_HV:
		return MISC_HYPERVISOR;
	case CHAIN_CONTEXT_KERNEL:
		return MISC_KERNEL;
	case CHAIN_CONTEXT_USER:
	case CHAIN_CONTEXT_USER_DEFERRED:
		return MISC_USER;
	case CHAIN_CONTEXT_GUEST:
	case CHAIN_CONTEXT_GUEST_KERNEL:
		return MISC_GUEST_KERNEL;
	case CHAIN_CONTEXT_GUEST_USER:
		return MISC_GUEST_USER;
	default:
		return 0;
	}
}

static void entry_add(struct chain *chain, uint64_t address, uint8_t cpumode, bool is_return)
{
	chain->entries.items[chain->entries.count++] =
		(struct chain_entry){ address, cpumode, is_return };
}

static void read_words(const struct words *words, uint8_t cpumode, struct chain *chain)
{
	bool is_first = true;
	for (uint64_t i = 0; i < words->count; i++) {
		uint64_t word = word_at(words, i);
		if (word < CHAIN_CONTEXT_MAX) {
			entry_add(chain, word, cpumode, !is_first);
			is_first = false;
			continue;
		}
		if (word == CHAIN_CONTEXT_USER_DEFERRED && i + 1 < words->count) {
			chain->is_deferred = true;
			chain->cookie = word_at(words, ++i);
		}
		// What follows a marker of a newer kernel is left out: no telling whose it is.
		cpumode = chain_cpumode(word);
		is_first = true;
		while (!cpumode && i + 1 < words->count &&
		       word_at(words, i + 1) < CHAIN_CONTEXT_MAX)
			i++;
	}
}

// Puts the sampled address in its place at the head.
static void put_head(const struct sample *sample, struct chain *chain)
{
	struct chain_entry head = { sample->ip, (uint8_t)sample->cpumode, false };
	struct chain_entry *entries = chain->entries.items;
	if (chain->entries.count && entries[0].cpumode == head.cpumode) {
		entries[0] = head;
		return;
	}
	memmove(&entries[1], &entries[0], chain->entries.count * sizeof *entries);
	entries[0] = head;
	chain->entries.count++;
}

struct imp_error *chain_read(const struct sample *sample, struct chain *chain)
{
	chain->entries.count = 0;
	chain->is_deferred = false;
	if (!array_reserve(&chain->entries, sample->chain.count + 1))
		return &imp_error_no_memory;
	read_words(&sample->chain, (uint8_t)sample->cpumode, chain);
	if (sample->has_ip)
		put_head(sample, chain);
	return NULL;
}

struct imp_error *chain_read_head(const struct sample *sample, struct chain *chain)
{
	// Without an address of its own, the first of the chain is the sample's.
	if (!sample->has_ip)
		return chain_read(sample, chain);
	chain->entries.count = 0;
	chain->is_deferred = false;
	if (!array_reserve(&chain->entries, 1))
		return &imp_error_no_memory;
	put_head(sample, chain);
	return NULL;
}

struct imp_error *chain_append(struct chain *chain, const struct words *words, uint8_t cpumode)
{
	size_t before = chain->entries.count;
	if (!array_reserve(&chain->entries, words->count))
		return &imp_error_no_memory;
	bool is_deferred = chain->is_deferred;
	uint64_t cookie = chain->cookie;
	read_words(words, cpumode, chain);
	chain->is_deferred = is_deferred;
	chain->cookie = cookie;
	struct chain_entry *entries = chain->entries.items;
	if (before == 1 && chain->entries.count > 1 && entries[0].cpumode == entries[1].cpumode) {
		memmove(&entries[1], &entries[2], (chain->entries.count - 2) * sizeof *entries);
		chain->entries.count--;
	}
	return NULL;
}
