// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// LEB128 numbers of more than one byte, and initial lengths.
#include "dwarf/leb.h"

uint64_t cursor_uleb_long(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = cursor_u8(cursor);
		if (cursor->failed)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte >= 0x80);
	if (cursor->failed)
		return 0;
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

uint64_t cursor_unit_length(struct cursor *cursor, uint8_t *offset_size)
{
	uint32_t length = cursor_u32(cursor);
	*offset_size = 4;
	if (length < 0xfffffff0)
		return length;
	if (length != 0xffffffff) {
		cursor_bytes(cursor, SIZE_MAX);
		return 0;
	}
	*offset_size = 8;
	return cursor_u64(cursor);
}
