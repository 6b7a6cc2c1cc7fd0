// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From what units say of their code to a partition of the addresses.
#include "dwarf/unit_map.h"

#include <stdlib.h>

#include "dwarf/aranges.h"
#include "dwarf/ranges.h"

// Of several units at an address the first has it, and of several owners the highest: so they are
// counted down. The function is its own inverse.
static uint32_t owner_of_unit(size_t unit)
{
	return (uint32_t)(UINT32_MAX - 1 - unit);
}

static struct imp_error *add_unit_places(const struct debug_file *file, size_t index,
					 uint64_t *budget, struct intervals *places)
{
	const struct unit *unit = &file->units[index];
	struct code_place place = { .has_low_pc = unit->has_low_pc,
				    .low_pc = unit->low_pc,
				    .high_pc = unit->high_pc,
				    .ranges = unit->ranges };
	return ranges_of_place(file, unit, &place, owner_of_unit(index), budget, places);
}

struct imp_error *unit_map_read(const struct debug_file *file, struct unit_map *ret)
{
	ret->bases = calloc(file->unit_count + 1, sizeof *ret->bases);
	if (!ret->bases)
		return &imp_error_no_memory;
	const struct section *all = file->sections.all;
	uint64_t budget = 1024 + all[DEBUG_RANGES].size + all[DEBUG_RNGLISTS].size;
	struct intervals places = { 0 };
	struct imp_error *err = NULL;
	bool is_complete = true;
	for (size_t i = 0; i < file->unit_count && !err; i++) {
		size_t before = places.list.count;
		err = add_unit_places(file, i, &budget, &places);
		is_complete &= places.list.count > before;
	}
	// Units whose root says nothing of their code may be in the table made for it.
	if (!err && !is_complete)
		err = aranges_add(file, &places);
	if (!err)
		err = intervals_partition(&places, &ret->units);
	for (size_t i = 0; i < file->unit_count; i++)
		ret->bases[i] = UINT64_MAX;
	for (size_t i = 0; i < places.list.count; i++) {
		uint64_t *base = &ret->bases[owner_of_unit(places.list.items[i].owner)];
		if (places.list.items[i].begin < *base)
			*base = places.list.items[i].begin;
	}
	array_fini(&places.list);
	for (size_t i = 0; i < ret->units.list.count; i++) {
		uint32_t *owner = &ret->units.list.items[i].owner;
		if (*owner != NO_OWNER)
			*owner = (uint32_t)owner_of_unit(*owner);
	}
	return err;
}

void unit_map_fini(struct unit_map *map)
{
	free(map->bases);
	array_fini(&map->units.list);
}
