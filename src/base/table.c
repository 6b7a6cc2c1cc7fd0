// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Growth of and insertion into hash tables.
#include "base/table.h"

#include <stdlib.h>

#include "base/memory.h"

void table_fini(struct table *table)
{
	free(table->slots);
	*table = (struct table){ 0 };
}

static void slot_place(struct table_slot *slots, size_t mask, struct table_slot slot)
{
	size_t at = slot.hash & mask;
	while (slots[at].item)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static bool table_grow(struct table *table)
{
	size_t room = table->slots ? (table->mask + 1) * 2 : 16;
	struct table_slot *slots = calloc(room, sizeof *slots);
	if (!slots)
		return false;
	memory_is_big(slots, room * sizeof *slots);
	for (size_t i = 0; table->slots && i <= table->mask; i++)
		if (table->slots[i].item)
			slot_place(slots, room - 1, table->slots[i]);
	free(table->slots);
	table->slots = slots;
	table->mask = room - 1;
	return true;
}

bool table_insert(struct table *table, uint64_t hash, uint32_t index)
{
	if (!table->slots || (table->count + 1) * 4 > (table->mask + 1) * 3)
		if (!table_grow(table))
			return false;
	uint32_t low = (uint32_t)(hash ^ hash >> 32);
	slot_place(table->slots, table->mask,
		   (struct table_slot){ .hash = low, .item = index + 1 });
	table->count++;
	return true;
}
