// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "timeline/spaces.h"

#include "harness/tap.h"

static uint32_t owner_of(struct spaces *spaces, uint32_t pid)
{
	uint32_t owner = 0;
	CHECK_OK(spaces_owner(spaces, SIDE_USER, pid, &owner));
	return owner;
}

static void map(struct spaces *spaces, uint32_t pid, uint64_t time, uint64_t start, uint64_t end)
{
	struct range range = { .start = start, .end = end };
	CHECK_OK(spaces_map(spaces, owner_of(spaces, pid), time, &range));
}

static uint32_t value_at(const struct spaces *spaces, uint32_t pid, uint64_t time, uint64_t address)
{
	const struct owner *owner = spaces_find_owner(spaces, SIDE_USER, pid);
	struct space_stretch found = spaces_find(spaces, owner, time, address);
	CHECK(found.from <= time && time < found.to);
	CHECK(found.start <= address && address < found.end);
	return found.value;
}

TEST(a_mapping_is_visible_from_its_begin_on)
{
	struct spaces spaces = { 0 };
	map(&spaces, 1, 10, 100, 200);
	map(&spaces, 1, 20, 300, 400);
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, 1, 9, 150), NO_VALUE);
	CHECK_UINT(value_at(&spaces, 1, 10, 150), 0);
	CHECK_UINT(value_at(&spaces, 1, 19, 350), NO_VALUE);
	CHECK_UINT(value_at(&spaces, 1, 20, 350), 1);
	CHECK_UINT(value_at(&spaces, 1, 20, 250), NO_VALUE);
	// Nothing overlaps, so no history is kept.
	CHECK(spaces.all.items[0].history == NULL);
	spaces_fini(&spaces);
}

TEST(an_overlay_hides_the_older_mapping_from_its_time_on_only)
{
	struct spaces spaces = { 0 };
	map(&spaces, 1, 10, 100, 200);
	map(&spaces, 1, 20, 150, 160);
	map(&spaces, 1, 30, 100, 155);
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, 1, 15, 155), 0);
	CHECK_UINT(value_at(&spaces, 1, 25, 152), 1);
	CHECK_UINT(value_at(&spaces, 1, 25, 149), 0);
	CHECK_UINT(value_at(&spaces, 1, 25, 170), 0);
	CHECK_UINT(value_at(&spaces, 1, 30, 152), 2);
	CHECK_UINT(value_at(&spaces, 1, 30, 157), 1);
	CHECK_UINT(value_at(&spaces, 1, 99, 170), 0);
	spaces_fini(&spaces);
}

TEST(a_fork_has_what_its_parent_had_then_and_goes_its_own_way)
{
	struct spaces spaces = { 0 };
	map(&spaces, 1, 10, 100, 200);
	CHECK_OK(spaces_fork(&spaces, owner_of(&spaces, 2), owner_of(&spaces, 1), 20));
	map(&spaces, 1, 30, 300, 400);
	map(&spaces, 1, 40, 100, 200);
	map(&spaces, 2, 50, 500, 600);
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, 2, 25, 150), 0);
	CHECK_UINT(value_at(&spaces, 2, 60, 150), 0);
	CHECK_UINT(value_at(&spaces, 2, 60, 350), NO_VALUE);
	CHECK_UINT(value_at(&spaces, 2, 60, 550), 3);
	CHECK_UINT(value_at(&spaces, 1, 60, 550), NO_VALUE);
	CHECK_UINT(value_at(&spaces, 1, 60, 150), 2);
	CHECK_UINT(value_at(&spaces, 1, 35, 150), 0);
	spaces_fini(&spaces);
}

TEST(an_exec_begins_with_nothing)
{
	struct spaces spaces = { 0 };
	map(&spaces, 1, 10, 100, 200);
	CHECK_OK(spaces_begin(&spaces, owner_of(&spaces, 1), 20));
	map(&spaces, 1, 21, 300, 400);
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, 1, 19, 150), 0);
	CHECK_UINT(value_at(&spaces, 1, 20, 150), NO_VALUE);
	CHECK_UINT(value_at(&spaces, 1, 30, 350), 1);
	CHECK_UINT(value_at(&spaces, 1, 19, 350), NO_VALUE);
	spaces_fini(&spaces);
}

TEST(a_childs_own_mappings_stay_above_a_fork_that_comes_late)
{
	struct spaces spaces = { 0 };
	map(&spaces, 1, 10, 100, 200);
	map(&spaces, 2, 19, 150, 160);
	CHECK_OK(spaces_fork_under(&spaces, owner_of(&spaces, 2), owner_of(&spaces, 1), 20));
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, 2, 19, 155), 1);
	CHECK_UINT(value_at(&spaces, 2, 20, 155), 1);
	CHECK_UINT(value_at(&spaces, 2, 20, 165), 0);
	CHECK_UINT(value_at(&spaces, 1, 20, 155), 0);
	spaces_fini(&spaces);
}

TEST(a_million_forks_in_a_chain_cost_no_look_up_anything)
{
	enum { COUNT = 1000000 };
	struct spaces spaces = { 0 };
	map(&spaces, 0, 1, 100, 200);
	for (uint32_t i = 1; i < COUNT; i++)
		CHECK_OK(spaces_fork(&spaces, owner_of(&spaces, i), owner_of(&spaces, i - 1),
				     1 + i));
	CHECK_OK(spaces_order(&spaces));
	CHECK_UINT(value_at(&spaces, COUNT - 1, COUNT, 150), 0);
	CHECK(spaces.ranges.nodes.count < 4);
	spaces_fini(&spaces);
}

TEST(a_hundred_thousand_overlays_in_one_process_stay_answerable)
{
	enum { COUNT = 100000, PLACES = 1000 };
	struct spaces spaces = { 0 };
	for (uint32_t i = 0; i < COUNT; i++)
		map(&spaces, 1, i + 1, i % PLACES * 16, i % PLACES * 16 + 20);
	CHECK_OK(spaces_order(&spaces));
	for (uint32_t i = 0; i < COUNT; i += 99)
		CHECK_UINT(value_at(&spaces, 1, i + 1, i % PLACES * 16 + 8), i);
	spaces_fini(&spaces);
}
