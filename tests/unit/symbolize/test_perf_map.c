// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "symbolize/perf_map.h"

#include <string.h>

#include "harness/tap.h"

static struct perf_map *parse(const char *text)
{
	struct perf_map *map = NULL;
	CHECK_OK(perf_map_parse(text, strlen(text), &map));
	return map;
}

static const char *name_at(const struct perf_map *map, uint64_t address)
{
	struct perf_map_entry entry;
	return perf_map_at(map, address, &entry) ? entry.name : NULL;
}

TEST(names_may_have_spaces_and_numbers_a_prefix)
{
	struct perf_map *map = parse("7f0010 20 Lfoo;::bar [tier 2]\n0x7f0100 0x8 baz\r\n");
	CHECK_TEXT(name_at(map, 0x7f0010), "Lfoo;::bar [tier 2]");
	CHECK_TEXT(name_at(map, 0x7f002f), "Lfoo;::bar [tier 2]");
	CHECK_TEXT(name_at(map, 0x7f0030), NULL);
	CHECK_TEXT(name_at(map, 0x7f0107), "baz");
	CHECK_TEXT(name_at(map, 0x7f000f), NULL);
	perf_map_free(map);
}

TEST(the_last_line_for_an_address_counts)
{
	struct perf_map *map = parse("1000 40 old\n2000 10 other\n1000 20 new\n1010 8 inner\n");
	CHECK_TEXT(name_at(map, 0x1000), "new");
	CHECK_TEXT(name_at(map, 0x1010), "inner");
	CHECK_TEXT(name_at(map, 0x1030), NULL);
	perf_map_free(map);
}

TEST(skips_lines_that_are_none)
{
	struct perf_map *map = parse("\nnonsense\n10 zz name\n10 5\n10 0 empty\n"
				     "ffffffffffffffff 2 beyond\n11112222333344445 1 long\n20 4 a");
	CHECK_TEXT(name_at(map, 0x10), NULL);
	CHECK_TEXT(name_at(map, UINT64_MAX), NULL);
	CHECK_TEXT(name_at(map, 0x23), "a");
	perf_map_free(map);
}

TEST(a_missing_file_is_an_answer)
{
	struct perf_map *map = (struct perf_map *)1;
	CHECK_OK(perf_map_open("/nonexistent/perf-1.map", &map));
	CHECK(!map);
}
