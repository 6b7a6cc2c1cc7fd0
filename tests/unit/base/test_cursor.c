// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "base/cursor.h"

#include "harness/tap.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 'h', 'i', 0, 9 };

TEST(reads_values_in_both_byte_orders)
{
	struct cursor native = cursor_over(bytes, sizeof bytes);
	struct cursor swapped = native;
	swapped.swap = true;
	CHECK_UINT(cursor_u32(&native), 0x04030201);
	CHECK_UINT(cursor_u32(&swapped), 0x01020304);
	CHECK_UINT(cursor_u16(&native), 0x0605);
	CHECK_UINT(cursor_u8(&native), 7);
	CHECK(!native.failed && !swapped.failed);
}

TEST(fails_once_and_stays_failed_beyond_the_end)
{
	struct cursor cursor = cursor_over(bytes, 6);
	cursor_u32(&cursor);
	CHECK_UINT(cursor_u32(&cursor), 0);
	CHECK_UINT(cursor_u8(&cursor), 0);
	CHECK(cursor.failed);
	_cleanup_error_ struct imp_error *err = cursor_error(&cursor, "thing");
	CHECK_TEXT(imp_error_message(err), "truncated thing at offset 4 of 6");
}

TEST(a_string_must_end_within_the_input)
{
	struct cursor cursor = cursor_over(bytes + 8, 4);
	CHECK_TEXT(cursor_string(&cursor), "hi");
	CHECK(cursor_string(&cursor) == NULL);
	CHECK(cursor.failed);
}

TEST(a_part_knows_where_it_stands_in_the_file)
{
	struct cursor cursor = cursor_over(bytes, sizeof bytes);
	cursor.origin = 100;
	cursor_skip(&cursor, 4);
	struct cursor part = cursor_part(&cursor, 4);
	CHECK_UINT(part.origin, 104);
	CHECK_UINT(part.size, 4);
	CHECK_UINT(cursor.at, 8);
	CHECK(cursor_part(&cursor, 5).failed);
}
