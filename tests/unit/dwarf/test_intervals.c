// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "dwarf/intervals.h"

#include <stdlib.h>

#include "harness/tap.h"

static void add(struct intervals *intervals, uint64_t begin, uint64_t end, uint32_t owner)
{
	struct interval *added = array_add(&intervals->list);
	REQUIRE(added);
	*added = (struct interval){ begin, end, owner };
}

static void fini(struct intervals *intervals, struct boundaries *boundaries)
{
	array_fini(&intervals->list);
	array_fini(&boundaries->list);
}

TEST(an_inner_interval_has_its_part_and_the_outer_one_the_rest)
{
	struct intervals intervals = { 0 };
	struct boundaries boundaries = { 0 };
	add(&intervals, 10, 30, 0);
	add(&intervals, 15, 20, 1);
	REQUIRE_OK(intervals_partition(&intervals, &boundaries));
	CHECK_UINT(boundaries_owner(&boundaries, 9), NO_OWNER);
	CHECK_UINT(boundaries_owner(&boundaries, 10), 0);
	CHECK_UINT(boundaries_owner(&boundaries, 15), 1);
	CHECK_UINT(boundaries_owner(&boundaries, 19), 1);
	CHECK_UINT(boundaries_owner(&boundaries, 20), 0);
	CHECK_UINT(boundaries_owner(&boundaries, 30), NO_OWNER);
	CHECK_UINT(boundaries.list.count, 4);
	fini(&intervals, &boundaries);
}

TEST(equal_empty_and_crossing_intervals_are_sorted_out)
{
	struct intervals intervals = { 0 };
	struct boundaries boundaries = { 0 };
	add(&intervals, 50, 60, 3);
	add(&intervals, 50, 60, 4);
	add(&intervals, 55, 70, 1);
	add(&intervals, 58, 58, 9);
	add(&intervals, 61, 20, 9);
	REQUIRE_OK(intervals_partition(&intervals, &boundaries));
	CHECK_UINT(boundaries_owner(&boundaries, 50), 4);
	CHECK_UINT(boundaries_owner(&boundaries, 58), 4);
	CHECK_UINT(boundaries_owner(&boundaries, 60), 1);
	CHECK_UINT(boundaries_owner(&boundaries, 69), 1);
	CHECK_UINT(boundaries_owner(&boundaries, 70), NO_OWNER);
	fini(&intervals, &boundaries);
}

// The highest owner of all that cover ADDRESS, found the slow way.
static uint32_t owner_by_looking(const struct interval *all, size_t count, uint64_t address)
{
	uint32_t best = NO_OWNER;
	for (size_t i = 0; i < count; i++)
		if (all[i].begin <= address && address < all[i].end &&
		    (best == NO_OWNER || all[i].owner > best))
			best = all[i].owner;
	return best;
}

TEST(agrees_with_a_linear_search_on_many_random_intervals)
{
	struct intervals intervals = { 0 };
	struct boundaries boundaries = { 0 };
	struct interval all[200];
	uint32_t seed = 1;
	for (uint32_t i = 0; i < 200; i++) {
		seed = seed * 1664525 + 1013904223;
		uint64_t begin = seed >> 22, size = seed >> 8 & 127;
		all[i] = (struct interval){ begin, begin + size, i };
		add(&intervals, begin, begin + size, i);
	}
	REQUIRE_OK(intervals_partition(&intervals, &boundaries));
	for (uint64_t address = 0; address < 1300; address++)
		CHECK_UINT(boundaries_owner(&boundaries, address),
			   owner_by_looking(all, 200, address));
	fini(&intervals, &boundaries);
}
