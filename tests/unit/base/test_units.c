// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sizes and ages as people read them.
#include "base/units.h"
#include "harness/tap.h"

TEST(sizes_have_the_unit_that_fits)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = { { 0, "0 B" },
		     { 1023, "1023 B" },
		     { 1024, "1.0 KiB" },
		     { 1536, "1.5 KiB" },
		     { 102400, "100 KiB" },
		     { 1023 * 1024, "1.0 MiB" },
		     { UINT64_C(24536678), "23.4 MiB" },
		     { UINT64_MAX, "16.0 EiB" } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_TEXT(units_size(rows[i].bytes).text, rows[i].text);
}

TEST(ages_are_rounded_down)
{
	CHECK_TEXT(units_age(-5).text, "now");
	CHECK_TEXT(units_age(59).text, "59 s");
	CHECK_TEXT(units_age(60).text, "1 min");
	CHECK_TEXT(units_age(7199).text, "1 h");
	CHECK_TEXT(units_age(86400 * 17 + 5).text, "17 d");
}
