// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The legacy frame: a magic number, then blocks of a 32-bit size and that many bytes, each of which
// unpacks to at most 8 MiB. A block is a row of sequences: a token (literal length, match length),
// literals, a 16-bit distance back. (lz4_Block_format.md, lz4_Frame_format.md of the lz4 project.)
#include "elf/unpack_lz4.h"

#include "base/cursor.h"

enum { BLOCK_MOST = 8 << 20, MATCH_LEAST = 4, MAGIC = 0x184c2102 };

// A length of which the token gave NIBBLE: 15 is continued by bytes until one is not 255.
static size_t read_length(struct cursor *cursor, size_t nibble)
{
	size_t length = nibble;
	if (nibble < 15)
		return length;
	uint8_t more;
	do {
		more = cursor_u8(cursor);
		length += more;
	} while (more == 255 && !cursor->failed);
	return length;
}

static bool unpack_sequence(struct cursor *cursor, uint8_t *out, size_t *at)
{
	uint8_t token = cursor_u8(cursor);
	size_t literals = read_length(cursor, token >> 4);
	const uint8_t *bytes = cursor_bytes(cursor, literals);
	if (cursor->failed || literals > BLOCK_MOST - *at)
		return false;
	memcpy(out + *at, bytes, literals);
	*at += literals;
	// The last sequence has no match.
	if (!cursor_left(cursor))
		return true;
	size_t back = cursor_u8(cursor);
	back |= (size_t)cursor_u8(cursor) << 8;
	size_t match = read_length(cursor, token & 15) + MATCH_LEAST;
	if (cursor->failed || back == 0 || back > *at || match > BLOCK_MOST - *at)
		return false;
	// The match may overlap what it makes: byte by byte.
	for (; match; match--, ++*at)
		out[*at] = out[*at - back];
	return true;
}

struct imp_error *unpack_lz4(const void *bytes, size_t size, size_t limit, struct buffer *ret)
{
	struct cursor cursor = cursor_over(bytes, size);
	cursor.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	size_t start = ret->size;
	cursor_u32(&cursor);
	while (cursor_left(&cursor) >= 4) {
		uint32_t block_size = cursor_u32(&cursor);
		// Frames may follow each other; the kernel's build puts the unpacked size last.
		if (block_size == MAGIC)
			continue;
		if (cursor_left(&cursor) == 0)
			break;
		struct cursor block = cursor_part(&cursor, block_size);
		if (block.failed)
			return error_new(IMP_ERR_BAD_DATA, "truncated lz4 data");
		uint8_t *out = buffer_extend(ret, BLOCK_MOST);
		if (!out)
			return &imp_error_no_memory;
		size_t at = 0;
		while (cursor_left(&block))
			if (!unpack_sequence(&block, out, &at))
				return error_new(IMP_ERR_BAD_DATA, "damaged lz4 data");
		ret->size -= BLOCK_MOST - at;
		if (ret->size - start > limit)
			return error_new(IMP_ERR_BAD_DATA, "unpacks to more than %zu bytes", limit);
	}
	return NULL;
}
