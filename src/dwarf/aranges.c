// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading address range tables (DWARF 5, section 6.1.2).
#include "dwarf/aranges.h"

static struct imp_error *add_range(const struct debug_file *file, const struct unit *unit,
				   uint64_t begin, uint64_t size, struct intervals *places)
{
	uint64_t end = begin + size;
	if (end <= begin || begin < file->code_start || end > file->code_end)
		return NULL;
	struct interval *added = array_add(&places->list);
	if (!added)
		return &imp_error_no_memory;
	*added = (struct interval){ begin, end,
				    (uint32_t)(UINT32_MAX - 1 - (size_t)(unit - file->units)) };
	return NULL;
}

static bool says_nothing(const struct unit *unit)
{
	return !unit->has_low_pc && unit->ranges.class == VALUE_NONE;
}

static struct imp_error *read_set(const struct debug_file *file, struct cursor *set,
				  uint8_t offset_size, struct intervals *places)
{
	uint16_t version = cursor_u16(set);
	const struct unit *unit = debug_file_unit_at(file, cursor_sized(set, offset_size));
	uint8_t address_size = cursor_u8(set);
	uint8_t segment_size = cursor_u8(set);
	if (set->failed || version != 2 || !unit || !says_nothing(unit) || segment_size != 0 ||
	    (address_size != 4 && address_size != 8))
		return NULL;
	// The pairs are aligned to their size, counted from the set's length.
	size_t header = (offset_size == 8 ? 12 : 4) + set->at;
	cursor_skip(set, (2U * address_size - header % (2U * address_size)) % (2U * address_size));
	while (cursor_left(set)) {
		uint64_t begin = cursor_sized(set, address_size);
		uint64_t size = cursor_sized(set, address_size);
		if (set->failed || (begin == 0 && size == 0))
			return NULL;
		struct imp_error *err = add_range(file, unit, begin, size, places);
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *aranges_add(const struct debug_file *file, struct intervals *places)
{
	struct cursor section = debug_section_from(&file->sections, DEBUG_ARANGES, 0);
	struct imp_error *err = NULL;
	while (!err && cursor_left(&section) && !section.failed) {
		uint8_t offset_size;
		uint64_t length = cursor_unit_length(&section, &offset_size);
		struct cursor set = cursor_part(&section, (size_t)length);
		if (!set.failed)
			err = read_set(file, &set, offset_size, places);
	}
	return err;
}
