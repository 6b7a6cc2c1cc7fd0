// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/live_maps.h"

#include "harness/tap.h"

static bool map(struct live_maps *maps, uint32_t pid, uint64_t start, uint64_t end, uint32_t image)
{
	struct live_mapping mapping = { .start = start, .end = end, .image = image };
	return live_maps_map(maps, pid, &mapping);
}

static struct live_maps *new_maps(void)
{
	struct live_maps *maps = calloc(1, sizeof *maps);
	CHECK(maps);
	return maps;
}

static void free_maps(struct live_maps *maps)
{
	live_maps_fini(maps);
	free(maps);
}

TEST(a_later_mapping_cuts_and_splits_what_it_covers)
{
	struct live_maps *maps = new_maps();
	CHECK(map(maps, 1, 0x1000, 0x9000, 1));
	CHECK(map(maps, 1, 0x3000, 0x5000, 2));
	CHECK(map(maps, 1, 0x8000, 0xa000, 3));
	CHECK_UINT(live_maps_find(maps, 1, 0x2fff), 1);
	CHECK_UINT(live_maps_find(maps, 1, 0x3000), 2);
	CHECK_UINT(live_maps_find(maps, 1, 0x5000), 1);
	CHECK_UINT(live_maps_find(maps, 1, 0x8000), 3);
	CHECK_UINT(live_maps_find(maps, 1, 0xa000), NO_LIVE_IMAGE);
	CHECK_UINT(live_maps_find(maps, 2, 0x3000), NO_LIVE_IMAGE);
	CHECK_UINT(live_maps_of(maps, 1)->mappings.items[2].offset, 0x4000);
	CHECK(map(maps, 1, 0, 0x10000, 4));
	CHECK_UINT(live_maps_of(maps, 1)->mappings.count, 1);
	free_maps(maps);
}

TEST(a_child_has_its_parents_mappings_until_it_changes_them)
{
	struct live_maps *maps = new_maps();
	CHECK(map(maps, 1, 0x1000, 0x2000, 1));
	CHECK(live_maps_fork(maps, 1, 2));
	CHECK(live_maps_of(maps, 1) == live_maps_of(maps, 2));
	CHECK(map(maps, 2, 0x1000, 0x2000, 2));
	CHECK_UINT(live_maps_find(maps, 1, 0x1000), 1);
	CHECK_UINT(live_maps_find(maps, 2, 0x1000), 2);
	CHECK(live_maps_exec(maps, 2));
	CHECK_UINT(live_maps_find(maps, 2, 0x1000), NO_LIVE_IMAGE);
	free_maps(maps);
}

TEST(a_fork_told_of_late_does_not_undo_what_the_child_mapped)
{
	struct live_maps *maps = new_maps();
	CHECK(map(maps, 1, 0x1000, 0x2000, 1));
	CHECK(map(maps, 2, 0x1000, 0x2000, 2));
	CHECK(live_maps_fork(maps, 1, 2));
	CHECK_UINT(live_maps_find(maps, 2, 0x1000), 2);
	free_maps(maps);
}

TEST(what_was_replaced_is_known_for_a_few_rounds)
{
	static struct live_maps maps;
	struct live_mapping first = { .start = 0x1000, .end = 0x5000, .image = 1 };
	struct live_mapping second = { .start = 0x1000, .end = 0x3000, .image = 2 };
	uint32_t images[4];
	CHECK(live_maps_map(&maps, 7, &first) && live_maps_map(&maps, 7, &second));
	CHECK_UINT(live_maps_find_gone(&maps, 7, 0x2000, images, 4), 1);
	CHECK_UINT(images[0], 1);
	CHECK(live_maps_exec(&maps, 7));
	CHECK_UINT(live_maps_find_gone(&maps, 7, 0x2000, images, 4), 2);
	CHECK_UINT(images[1], 2);
	CHECK_UINT(live_maps_find_gone(&maps, 7, 0x2000, images, 1), 1);
	CHECK_UINT(live_maps_find_gone(&maps, 7, 0x6000, images, 4), 0);
	for (int round = 0; round < 5; round++)
		live_maps_next_round(&maps);
	CHECK_UINT(live_maps_find_gone(&maps, 7, 0x2000, images, 4), 0);
	live_maps_fini(&maps);
}

TEST(what_has_ended_is_known_for_a_while_and_then_forgotten)
{
	struct live_maps *maps = new_maps();
	enum { MANY = 1000 };
	for (uint32_t pid = 1; pid <= MANY; pid++) {
		CHECK(map(maps, pid, 0x1000, 0x2000, pid));
		live_maps_exit(maps, pid);
	}
	CHECK_UINT(live_maps_find(maps, 7, 0x1000), 7);
	for (int round = 0; round < 10; round++)
		live_maps_next_round(maps);
	CHECK_UINT(live_maps_find(maps, 7, 0x1000), NO_LIVE_IMAGE);
	CHECK_UINT(maps->ended_count, 0);
	free_maps(maps);
}
