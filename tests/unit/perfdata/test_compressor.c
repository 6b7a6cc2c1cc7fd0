// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/compressor.h"

#include <string.h>
#include <zstd.h>

#include "base/cursor.h"
#include "harness/tap.h"
#include "perfdata/record.h"

// Inflates the records in BYTES and returns how many there were.
static size_t inflate(const struct buffer *bytes, struct buffer *out)
{
	ZSTD_DCtx *stream = ZSTD_createDCtx();
	struct cursor cursor = cursor_over(bytes->bytes, bytes->size);
	size_t records = 0;
	while (cursor_left(&cursor)) {
		uint32_t type = cursor_u32(&cursor);
		cursor_u16(&cursor);
		uint16_t size = cursor_u16(&cursor);
		const uint8_t *payload = cursor_bytes(&cursor, size - 8U);
		CHECK_UINT(type, RECORD_COMPRESSED);
		if (!payload)
			break;
		ZSTD_inBuffer in = { payload, size - 8U, 0 };
		uint8_t piece[4096];
		ZSTD_outBuffer to = { piece, sizeof piece, sizeof piece };
		while (in.pos < in.size || to.pos == to.size) {
			to.pos = 0;
			if (ZSTD_isError(ZSTD_decompressStream(stream, &to, &in)))
				break;
			buffer_append(out, piece, to.pos);
		}
		records++;
	}
	ZSTD_freeDCtx(stream);
	return records;
}

TEST(what_was_given_so_far_can_be_inflated_after_each_call)
{
	struct compressor *compressor;
	REQUIRE_OK(compressor_new(1, &compressor));
	_cleanup_buffer_ struct buffer out = { 0 };
	CHECK_OK(compressor_add(compressor, "records, ", 9, &out));
	_cleanup_buffer_ struct buffer first = { 0 };
	inflate(&out, &first);
	CHECK_UINT(first.size, 9);
	CHECK_OK(compressor_add(compressor, "and more", 8, &out));
	compressor_free(compressor);
	_cleanup_buffer_ struct buffer both = { 0 };
	CHECK_UINT(inflate(&out, &both), 2);
	CHECK(both.size == 17 && !memcmp(both.bytes, "records, and more", 17));
}

TEST(bytes_that_do_not_shrink_fill_several_records_of_16_bit_sizes)
{
	enum { SIZE = 300000 };
	_cleanup_free_ uint8_t *noise = malloc(SIZE);
	REQUIRE(noise);
	uint64_t state = 88172645463325252U;
	for (size_t i = 0; i < SIZE; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		noise[i] = (uint8_t)state;
	}
	struct compressor *compressor;
	REQUIRE_OK(compressor_new(3, &compressor));
	_cleanup_buffer_ struct buffer out = { 0 };
	_cleanup_buffer_ struct buffer back = { 0 };
	CHECK_OK(compressor_add(compressor, noise, SIZE, &out));
	compressor_free(compressor);
	CHECK(inflate(&out, &back) >= 5);
	CHECK(back.size == SIZE && !memcmp(back.bytes, noise, SIZE));
}
