// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "serve/conditions.h"

#include "harness/tap.h"

// "FIRST+COUNT", "whole" or "outside".
static const char *range_of(const char *header, uint64_t size)
{
	static char text[64];
	uint64_t first, count;
	switch (range_parse(header, size, &first, &count)) {
	case RANGE_PART:
		snprintf(text, sizeof text, "%llu+%llu", (unsigned long long)first,
			 (unsigned long long)count);
		return text;
	case RANGE_OUTSIDE:
		return "outside";
	case RANGE_WHOLE:
	default:
		return "whole";
	}
}

TEST(one_range_is_read_in_its_three_forms)
{
	CHECK_TEXT(range_of("bytes=0-0", 10), "0+1");
	CHECK_TEXT(range_of("bytes=2-5", 10), "2+4");
	CHECK_TEXT(range_of("Bytes= 2-5 ", 10), "2+4");
	CHECK_TEXT(range_of("bytes=2-", 10), "2+8");
	CHECK_TEXT(range_of("bytes=2-99", 10), "2+8");
	CHECK_TEXT(range_of("bytes=-3", 10), "7+3");
	CHECK_TEXT(range_of("bytes=-30", 10), "0+10");
}

TEST(a_range_behind_the_end_is_outside)
{
	CHECK_TEXT(range_of("bytes=10-", 10), "outside");
	CHECK_TEXT(range_of("bytes=10-20", 10), "outside");
	CHECK_TEXT(range_of("bytes=-0", 10), "outside");
	CHECK_TEXT(range_of("bytes=0-", 0), "outside");
	CHECK_TEXT(range_of("bytes=-1", 0), "outside");
	CHECK_TEXT(range_of("bytes=9223372036854775807-", 10), "outside");
}

TEST(what_is_no_single_range_is_the_whole)
{
	static const char *const headers[] = {
		NULL,
		"",
		"bytes",
		"bytes=",
		"bytes=-",
		"bytes=a-b",
		"bytes=1",
		"bytes=5-2",
		"bytes=1-2,4-5",
		"lines=1-2",
		"bytes=1-x",
		"bytes=--1",
		"bytes=1-2-3",
		"bytes=99999999999999999999-",
		"bytes=-99999999999999999999",
	};
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		CHECK_TEXT(range_of(headers[i], 10), "whole");
}

TEST(tags_are_found_in_lists)
{
	CHECK(tag_is_listed("\"a\"", "\"a\"", false));
	CHECK(tag_is_listed("\"b\", \"a\"", "\"a\"", false));
	CHECK(tag_is_listed("\"b\",\"a\",\"c\"", "\"a\"", false));
	CHECK(tag_is_listed(" * ", "\"a\"", false));
	CHECK(tag_is_listed("W/\"a\"", "\"a\"", true));
	CHECK(tag_is_listed("\"with, comma\", \"a\"", "\"a\"", true));
	CHECK(!tag_is_listed("W/\"a\"", "\"a\"", false));
	CHECK(!tag_is_listed("\"ab\"", "\"a\"", true));
	CHECK(!tag_is_listed("a", "\"a\"", true));
	CHECK(!tag_is_listed("\"a", "\"a\"", true));
	CHECK(!tag_is_listed("\"b\" \"a\"", "\"a\"", true));
	CHECK(!tag_is_listed("", "\"a\"", true));
	CHECK(!tag_is_listed("W/", "\"a\"", true));
	CHECK(!tag_is_listed("*, \"b\"", "\"a\"", true));
}

TEST(hops_are_counted)
{
	CHECK_UINT(forwarded_hops(NULL), 0);
	CHECK_UINT(forwarded_hops(""), 0);
	CHECK_UINT(forwarded_hops(" "), 0);
	CHECK_UINT(forwarded_hops("10.0.0.1"), 1);
	CHECK_UINT(forwarded_hops("10.0.0.1, ::1, 10.0.0.2"), 3);
}

TEST(numbers_are_decimal_and_nothing_else)
{
	uint64_t value;
	CHECK(decimal_parse("0", &value) && value == 0);
	CHECK(decimal_parse("9999999999999999999", &value) &&
	      value == UINT64_C(9999999999999999999));
	CHECK(!decimal_parse("", &value));
	CHECK(!decimal_parse("-1", &value));
	CHECK(!decimal_parse("1 ", &value));
	CHECK(!decimal_parse("0x1", &value));
	CHECK(!decimal_parse("99999999999999999999", &value));
}
