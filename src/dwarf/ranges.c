// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading range lists of DWARF 2 to 4 (DWARF 4, section 2.17.3) and of DWARF 5 (section 2.17.3).
#include "dwarf/ranges.h"

#include <dwarf.h>

struct reading {
	const struct debug_file *file;
	const struct unit *unit;
	struct intervals *ret;
	uint64_t *budget;
	uint32_t owner;
};

static struct imp_error *add_range(const struct reading *reading, uint64_t begin, uint64_t end)
{
	const struct debug_file *file = reading->file;
	// Linkers put 0, 1, or the highest addresses where the code was dropped.
	if (begin >= end || begin < file->code_start || end > file->code_end)
		return NULL;
	struct interval *added = array_add(&reading->ret->list);
	if (!added)
		return &imp_error_no_memory;
	*added = (struct interval){ .begin = begin, .end = end, .owner = reading->owner };
	return NULL;
}

static uint64_t highest_address(const struct unit *unit)
{
	return unit->encoding.address_size >= 8
		       ? UINT64_MAX
		       : (UINT64_C(1) << 8 * unit->encoding.address_size) - 1;
}

static struct imp_error *read_ranges(const struct reading *reading, uint64_t offset)
{
	const struct unit *unit = reading->unit;
	unsigned size = unit->encoding.address_size;
	struct cursor list = debug_section_from(&reading->file->sections, DEBUG_RANGES,
						unit->ranges_base + offset);
	uint64_t base = unit->low_pc;
	while (*reading->budget) {
		--*reading->budget;
		uint64_t begin = cursor_sized(&list, size);
		uint64_t end = cursor_sized(&list, size);
		if (list.failed || (begin == 0 && end == 0))
			return NULL;
		if (begin == highest_address(unit)) {
			base = end;
			continue;
		}
		struct imp_error *err = add_range(reading, base + begin, base + end);
		if (err)
			return err;
	}
	return NULL;
}

struct rnglist {
	struct cursor at;
	uint64_t base;
	uint64_t begin, end;
};

static uint64_t indexed(const struct reading *reading, struct rnglist *list)
{
	uint64_t address = 0;
	if (!unit_address_at(reading->file, reading->unit, cursor_uleb(&list->at), &address))
		list->at.failed = true;
	return address;
}

// Reads one entry. False at the end of the list; begin == end when the entry is no range.
static bool read_rnglist_entry(const struct reading *reading, struct rnglist *list)
{
	unsigned size = reading->unit->encoding.address_size;
	list->begin = list->end = 0;
	switch (cursor_u8(&list->at)) {
	case DW_RLE_base_addressx:
		list->base = indexed(reading, list);
		break;
	case DW_RLE_startx_endx:
		list->begin = indexed(reading, list);
		list->end = indexed(reading, list);
		break;
	case DW_RLE_startx_length:
		list->begin = indexed(reading, list);
		list->end = list->begin + cursor_uleb(&list->at);
		break;
	case DW_RLE_offset_pair:
		list->begin = list->base + cursor_uleb(&list->at);
		list->end = list->base + cursor_uleb(&list->at);
		break;
	case DW_RLE_base_address:
		list->base = cursor_sized(&list->at, size);
		break;
	case DW_RLE_start_end:
		list->begin = cursor_sized(&list->at, size);
		list->end = cursor_sized(&list->at, size);
		break;
	case DW_RLE_start_length:
		list->begin = cursor_sized(&list->at, size);
		list->end = list->begin + cursor_uleb(&list->at);
		break;
	default:
		// DW_RLE_end_of_list, or something later than DWARF 5.
		return false;
	}
	return !list->at.failed;
}

static struct imp_error *read_rnglist(const struct reading *reading, uint64_t offset)
{
	struct rnglist list = {
		.at = debug_section_from(&reading->file->sections, DEBUG_RNGLISTS, offset),
		.base = reading->unit->low_pc,
	};
	while (*reading->budget && read_rnglist_entry(reading, &list)) {
		--*reading->budget;
		struct imp_error *err = add_range(reading, list.begin, list.end);
		if (err)
			return err;
	}
	return NULL;
}

static struct imp_error *read_indexed_rnglist(const struct reading *reading, uint64_t index)
{
	const struct unit *unit = reading->unit;
	unsigned size = unit->encoding.offset_size;
	if (index > UINT32_MAX)
		return NULL;
	struct cursor table = debug_section_from(&reading->file->sections, DEBUG_RNGLISTS,
						 unit->rnglists_base + index * size);
	uint64_t offset = cursor_sized(&table, size);
	return table.failed ? NULL : read_rnglist(reading, unit->rnglists_base + offset);
}

struct imp_error *ranges_of_place(const struct debug_file *file, const struct unit *unit,
				  const struct code_place *place, uint32_t owner, uint64_t *budget,
				  struct intervals *ret)
{
	struct reading reading = {
		.file = file, .unit = unit, .ret = ret, .budget = budget, .owner = owner
	};
	const struct value *ranges = &place->ranges;
	if (ranges->class == VALUE_RANGES_INDEX)
		return read_indexed_rnglist(&reading, ranges->number);
	if (ranges->class == VALUE_OFFSET || ranges->class == VALUE_CONSTANT)
		return unit->encoding.version >= 5 ? read_rnglist(&reading, ranges->number)
						   : read_ranges(&reading, ranges->number);
	if (!place->has_low_pc)
		return NULL;
	uint64_t high = 0;
	if (place->high_pc.class == VALUE_CONSTANT)
		high = place->low_pc + place->high_pc.number;
	else if (!value_address(file, unit, &place->high_pc, &high))
		return NULL;
	return add_range(&reading, place->low_pc, high);
}
