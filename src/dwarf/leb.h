// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The numbers of variable length and the offsets that DWARF is written in (DWARF 5, sections 7.4
// and 7.6), over a bounded cursor.
#ifndef DWARF_LEB_H
#define DWARF_LEB_H

#include "base/cursor.h"

// What is above 64 bits is dropped.
uint64_t cursor_uleb_long(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	if (!cursor->failed && cursor->at < cursor->size && cursor->start[cursor->at] < 0x80)
		return cursor->start[cursor->at++];
	return cursor_uleb_long(cursor);
}

static inline uint32_t cursor_u24(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, 3);
	if (!bytes)
		return 0;
	uint32_t first = bytes[0], last = bytes[2], middle = bytes[1];
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != cursor->swap;
	return big ? first << 16 | middle << 8 | last : last << 16 | middle << 8 | first;
}

// An unsigned value of SIZE bytes: 1, 2, 3, 4 or 8; any other size fails the cursor.
static inline uint64_t cursor_sized(struct cursor *cursor, unsigned size)
{
	switch (size) {
	case 1:
		return cursor_u8(cursor);
	case 2:
		return cursor_u16(cursor);
	case 3:
		return cursor_u24(cursor);
	case 4:
		return cursor_u32(cursor);
	case 8:
		return cursor_u64(cursor);
	default:
		cursor_bytes(cursor, SIZE_MAX);
		return 0;
	}
}

// A unit_length: *offset_size becomes 4 or 8. A reserved escape fails the cursor.
uint64_t cursor_unit_length(struct cursor *cursor, uint8_t *offset_size);

#endif
