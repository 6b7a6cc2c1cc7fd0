// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking an ID up in .debug_cu_index.
#include "dwarf/split_package.h"

enum { COLUMNS_MOST = 16 };

// Sections by the numbers that an index's columns have; DEBUG_SECTIONS: of no use here.
static const uint8_t columns_v2[] = {
	[1] = DEBUG_INFO,     [2] = DEBUG_SECTIONS,    [3] = DEBUG_ABBREV,   [4] = DEBUG_LINE,
	[5] = DEBUG_SECTIONS, [6] = DEBUG_STR_OFFSETS, [7] = DEBUG_SECTIONS, [8] = DEBUG_SECTIONS
};
static const uint8_t columns_v5[] = {
	[1] = DEBUG_INFO,     [2] = DEBUG_SECTIONS,    [3] = DEBUG_ABBREV,   [4] = DEBUG_LINE,
	[5] = DEBUG_SECTIONS, [6] = DEBUG_STR_OFFSETS, [7] = DEBUG_SECTIONS, [8] = DEBUG_RNGLISTS
};

struct unit_index {
	struct cursor bytes;
	uint32_t version, column_count, unit_count, slot_count;
	// Where the IDs of slots begin; rows, columns, offsets and sizes follow.
	size_t slots;
};

static struct cursor at(const struct unit_index *index, uint64_t offset)
{
	struct cursor cursor = index->bytes;
	cursor.at = 0;
	cursor_skip(&cursor, offset);
	return cursor;
}

static bool read_index(const struct elf_image *image, struct unit_index *index)
{
	const struct elf_section *section = elf_image_section_named(image, ".debug_cu_index");
	if (!section)
		return false;
	struct cursor bytes = elf_image_section_bytes(image, section);
	index->bytes = bytes;
	// Version 2 has four bytes, version 5 two and two of padding.
	uint32_t version = cursor_u32(&bytes);
	if (version != 2) {
		bytes.at = 0;
		version = cursor_u16(&bytes);
		cursor_u16(&bytes);
	}
	index->version = version;
	index->column_count = cursor_u32(&bytes);
	index->unit_count = cursor_u32(&bytes);
	index->slot_count = cursor_u32(&bytes);
	index->slots = bytes.at;
	uint64_t slots_size = UINT64_C(12) * index->slot_count;
	uint64_t cells = (2 * (uint64_t)index->unit_count + 1) * index->column_count;
	return !bytes.failed && (version == 2 || version == 5) && index->slot_count &&
	       index->column_count <= COLUMNS_MOST && slots_size + 4 * cells <= cursor_left(&bytes);
}

// The row of ID, counted from 1; 0 without.
static uint32_t row_of(const struct unit_index *index, uint64_t id)
{
	uint32_t mask = index->slot_count - 1;
	uint32_t slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
	for (uint32_t tried = 0; tried < index->slot_count; tried++) {
		slot %= index->slot_count;
		struct cursor ids = at(index, index->slots + UINT64_C(8) * slot);
		struct cursor rows = at(index, index->slots + UINT64_C(8) * index->slot_count +
						       UINT64_C(4) * slot);
		uint64_t present = cursor_u64(&ids);
		uint32_t row = cursor_u32(&rows);
		if (rows.failed || !row)
			return 0;
		if (present == id)
			return row <= index->unit_count ? row : 0;
		slot += step;
	}
	return 0;
}

static bool narrow(struct section *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		return false;
	section->bytes += offset;
	section->size = (size_t)size;
	return true;
}

bool split_package_narrow(const struct elf_image *image, uint64_t id,
			  struct debug_sections *sections)
{
	struct unit_index index;
	uint32_t row = read_index(image, &index) ? row_of(&index, id) : 0;
	if (!row)
		return false;
	uint64_t columns = index.slots + UINT64_C(12) * index.slot_count;
	uint64_t line = UINT64_C(4) * index.column_count;
	struct cursor kinds = at(&index, columns);
	struct cursor offsets = at(&index, columns + line * row);
	struct cursor sizes = at(&index, columns + line * (index.unit_count + (uint64_t)row));
	const uint8_t *known = index.version == 2 ? columns_v2 : columns_v5;
	for (uint32_t i = 0; i < index.column_count; i++) {
		uint32_t kind = cursor_u32(&kinds);
		uint32_t offset = cursor_u32(&offsets), size = cursor_u32(&sizes);
		uint8_t which = kind && kind < sizeof columns_v5 ? known[kind] : DEBUG_SECTIONS;
		if (sizes.failed || kinds.failed || offsets.failed ||
		    (which != DEBUG_SECTIONS && !narrow(&sections->all[which], offset, size)))
			return false;
	}
	return true;
}
