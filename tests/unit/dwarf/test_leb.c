// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "dwarf/leb.h"

#include "harness/tap.h"

TEST(reads_the_numbers_of_the_standards_examples)
{
	static const uint8_t bytes[] = { 2, 0x7f, 0x80, 1, 0x81, 1, 0x80, 0x7f, 0xff, 0x7e };
	struct cursor cursor = cursor_over(bytes, sizeof bytes);
	CHECK_UINT(cursor_uleb(&cursor), 2);
	CHECK_UINT(cursor_uleb(&cursor), 127);
	CHECK_UINT(cursor_uleb(&cursor), 128);
	CHECK_UINT(cursor_uleb(&cursor), 129);
	CHECK(cursor_sleb(&cursor) == -128);
	CHECK(cursor_sleb(&cursor) == -129);
	CHECK(!cursor.failed && cursor_left(&cursor) == 0);
}

TEST(a_number_that_does_not_end_fails_and_is_zero)
{
	static const uint8_t bytes[] = { 0xff, 0xff };
	struct cursor cursor = cursor_over(bytes, sizeof bytes);
	CHECK_UINT(cursor_uleb(&cursor), 0);
	CHECK(cursor.failed);
	CHECK_UINT(cursor_uleb(&cursor), 0);
}

TEST(bits_above_64_are_dropped)
{
	static const uint8_t bytes[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	struct cursor cursor = cursor_over(bytes, sizeof bytes);
	CHECK_UINT(cursor_uleb(&cursor), UINT64_MAX);
	CHECK(!cursor.failed && cursor_left(&cursor) == 0);
}

TEST(a_unit_length_tells_the_size_of_offsets)
{
	static const uint8_t bytes[] = { 7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 9,	   0,
					 0, 0, 0, 0, 0,	   0,	 0xf0, 0xff, 0xff, 0xff };
	struct cursor cursor = cursor_over(bytes, sizeof bytes);
	uint8_t offset_size;
	CHECK_UINT(cursor_unit_length(&cursor, &offset_size), 7);
	CHECK_UINT(offset_size, 4);
	CHECK_UINT(cursor_unit_length(&cursor, &offset_size), 9);
	CHECK_UINT(offset_size, 8);
	cursor_unit_length(&cursor, &offset_size);
	CHECK(cursor.failed);
}
