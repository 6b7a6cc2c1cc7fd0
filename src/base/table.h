// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A hash table from a key to the index of an item that the caller keeps in an array of its own.
//
// The table stores (hash, index) only; the caller compares its items. Open addressing, grown at
// 3/4.
//
//	struct table_probe probe = table_probe(&table, hash);
//	uint32_t index;
//	while (table_next(&table, &probe, &index))
//		if (same(&items[index], key))
//			return index;
//	... add the item ...
//	if (!table_insert(&table, hash, new_index))
//		return &imp_error_no_memory;
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint32_t hash;
	// Index + 1; 0 is a free slot.
	uint32_t item;
};

// Zero-initialised is empty.
struct table {
	struct table_slot *slots;
	size_t count;
	size_t mask;
};

struct table_probe {
	size_t at;
	uint32_t hash;
};

void table_fini(struct table *table);

// Begins a search for HASH.
static inline struct table_probe table_probe(const struct table *table, uint64_t hash)
{
	uint32_t low = (uint32_t)(hash ^ hash >> 32);
	return (struct table_probe){ .at = low & table->mask, .hash = low };
}

// The next item whose hash is equal: true and *index, or false at the end.
static inline bool table_next(const struct table *table, struct table_probe *probe, uint32_t *index)
{
	while (table->slots && table->slots[probe->at].item) {
		const struct table_slot *slot = &table->slots[probe->at];
		probe->at = (probe->at + 1) & table->mask;
		if (slot->hash == probe->hash) {
			*index = slot->item - 1;
			return true;
		}
	}
	return false;
}

// Has the place where HASH would be brought near, for a search that is to come.
static inline void table_prefetch(const struct table *table, uint64_t hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[(uint32_t)(hash ^ hash >> 32) & table->mask]);
}

// Adds INDEX (at most UINT32_MAX - 1) under HASH; equal keys are the caller's business. False when
// memory ran out.
bool table_insert(struct table *table, uint64_t hash, uint32_t index)
	__attribute__((warn_unused_result));

#endif
