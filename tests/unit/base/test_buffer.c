// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Text that is appended, short and long.
#include "base/buffer.h"

#include <string.h>

#include "harness/tap.h"

TEST(formatted_text_is_whole_at_every_length)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklm"
				      "nopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz";
	_cleanup_buffer_ struct buffer buffer = { 0 };
	buffer_text(&buffer, "<");
	size_t expected = 1;
	for (int length = 0; length < (int)sizeof letters - 1; length++) {
		buffer_format(&buffer, "%.*s|%d", length, letters, 7);
		CHECK_UINT(buffer.size, expected + (size_t)length + 2);
		CHECK(!memcmp(buffer.bytes + expected, letters, (size_t)length));
		CHECK(!memcmp(buffer.bytes + expected + length, "|7", 2));
		expected = buffer.size;
	}
	CHECK(!buffer.failed);
	CHECK_UINT(buffer.bytes[0], '<');
}

TEST(nothing_is_appended_after_a_failure)
{
	_cleanup_buffer_ struct buffer buffer = { 0 };
	buffer_text(&buffer, "a");
	buffer.failed = true;
	buffer_text(&buffer, "b");
	buffer_format(&buffer, "%d", 1);
	CHECK_UINT(buffer.size, 1);
	CHECK(!buffer_extend(&buffer, 1));
}
