// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Questions to a timeline: how far answers reach, how sure they are, and what may be asked early.
#include <string.h>

#include "harness/tap.h"
#include "unit/timeline/scene.h"

TEST(without_times_the_order_of_the_file_is_that_of_time)
{
	struct scene scene;
	scene_begin_with(&scene, true);
	scene_map(&scene, 0, 1, 0x10000, "/a", 1);
	uint64_t between = scene.position;
	scene_map(&scene, 0, 1, 0x10000, "/b", 2);
	scene_fork(&scene, 7, 1, 2);
	scene_fork(&scene, 0, 1, 3);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, between + 1, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, scene.position, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 2, scene.position, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 3, scene.position, 0x10010), "no-process");
	scene_leave(&scene);
}

TEST(an_identity_tells_when_it_was_bound)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map_id(&scene, 0, 1, 0x10000, "/a", 1);
	scene_map_id(&scene, 10, 2, 0x10000, "/a", 1);
	scene_map(&scene, 10, 3, 0x10000, "/b", 5);
	scene_claim(&scene, MISC_USER, "/b", 2);
	scene_finish(&scene);
	CHECK_UINT(image_at(&scene, 1, 20, 0x10010)->identity, IDENTITY_SYNTHESIZED);
	CHECK_UINT(image_at(&scene, 2, 20, 0x10010)->identity, IDENTITY_MAP_TIME);
	CHECK_UINT(image_at(&scene, 3, 20, 0x10010)->identity, IDENTITY_AFTER_THE_FACT);
	scene_leave(&scene);
}

TEST(a_file_replaced_while_it_ran_is_never_taken_for_its_successor)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/lib/foo.so", 5);
	scene_map(&scene, 20, 2, 0x10000, "/lib/foo.so", 6);
	scene_claim(&scene, MISC_USER, "/lib/foo.so", 2);
	scene_finish(&scene);
	const struct image *first = image_at(&scene, 1, 30, 0x10010);
	const struct image *second = image_at(&scene, 2, 30, 0x10010);
	CHECK(first != second);
	CHECK_UINT(first->identity, IDENTITY_AMBIGUOUS);
	CHECK_UINT(second->identity, IDENTITY_AMBIGUOUS);
	scene_leave(&scene);
}

TEST(a_stretch_reaches_as_far_as_the_answer_is_the_same)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_map(&scene, 30, 1, 0x10800, "/b", 2);
	scene_finish(&scene);
	struct stretch first =
		timeline_stretch(scene.timeline, 1, 15, MISC_USER, abs_addr_of(0x10900));
	CHECK_UINT(first.from, 10);
	CHECK_UINT(first.to, 30);
	CHECK_UINT(first.start, 0x10000);
	CHECK_UINT(first.end, 0x11000);
	struct stretch second =
		timeline_stretch(scene.timeline, 1, 40, MISC_USER, abs_addr_of(0x10700));
	CHECK_UINT(second.from, 30);
	CHECK_UINT(second.end, 0x10800);
	scene_leave(&scene);
}

TEST(mappings_are_counted_by_image)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_map(&scene, 10, 2, 0x10000, "/a", 1);
	scene_map(&scene, 10, 2, 0x20000, "/b", 2);
	scene_finish(&scene);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 0), 2);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 1), 1);
	CHECK_TEXT(timeline_image(scene.timeline, 0)->path, "/a");
	scene_leave(&scene);
}

TEST(what_is_known_to_be_complete_may_be_asked_before_the_end)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 0, 1, 0x10000, "/a", 1);
	scene_map(&scene, 10, 1, 0x10000, "/b", 2);
	scene_map(&scene, 30, 1, 0x10000, "/c", 3);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	CHECK_TEXT(in_user(&scene, 1, 9, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 19, 0x10010), "/b+0x1010");
	scene_map(&scene, 25, 1, 0x20000, "/d", 4);
	scene_fork(&scene, 20, 1, 2);
	CHECK_OK(timeline_advance(scene.timeline, 26));
	CHECK_TEXT(in_user(&scene, 1, 25, 0x20010), "/d+0x1010");
	scene_finish(&scene);
	CHECK(!timeline_was_late(scene.timeline));
	CHECK_TEXT(in_user(&scene, 1, 9, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/c+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "/b+0x1010");
	scene_leave(&scene);
}

TEST(what_was_advanced_over_need_not_be_kept)
{
	struct scene scene;
	scene_begin(&scene);
	timeline_forget(scene.timeline);
	// Not in the order of time: the middle one stays, the others go.
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_map(&scene, 30, 1, 0x10000, "/c", 3);
	scene_map(&scene, 12, 1, 0x20000, "/b", 2);
	scene_comm(&scene, 31, 1, "name", false);
	scene_map(&scene, 12, 2, 0x10000, "/b", 2);
	CHECK_UINT(timeline_waiting(scene.timeline), 5);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	CHECK_UINT(timeline_waiting(scene.timeline), 2);
	scene_map(&scene, 40, 1, 0x20000, "/d", 4);
	// As early as the one that stayed, and behind it.
	scene_map(&scene, 30, 1, 0x10000, "/e", 5);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	CHECK_UINT(timeline_waiting(scene.timeline), 4);
	scene_finish(&scene);
	CHECK(!timeline_was_late(scene.timeline));
	CHECK_UINT(timeline_waiting(scene.timeline), 0);
	CHECK_TEXT(in_user(&scene, 1, 29, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/e+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x20010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 40, 0x20010), "/d+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 40, 0x10010), "/b+0x1010");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 1, 31), "name");
	scene_leave(&scene);
}

TEST(a_record_that_comes_too_late_is_told_of_and_counts_in_the_end)
{
	struct scene scene;
	scene_begin(&scene);
	scene_comm(&scene, 5, 1, "first", false);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	scene_map(&scene, 15, 1, 0x10000, "/b", 2);
	scene_comm(&scene, 7, 1, "second", false);
	scene_finish(&scene);
	CHECK(timeline_was_late(scene.timeline));
	CHECK_TEXT(in_user(&scene, 1, 14, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 15, 0x10010), "/b+0x1010");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 1, 6), "first");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 1, 7), "second");
	scene_leave(&scene);
}

TEST(numbers_of_images_given_early_lead_to_the_final_ones)
{
	struct scene scene;
	scene_begin(&scene);
	// One file, of which /proc did not tell the generation.
	struct mmap_record mmap = { .pid = 1,
				    .tid = 1,
				    .start = 0x10000,
				    .length = 0x1000,
				    .inode = 5,
				    .has_inode = true,
				    .path = "/a" };
	scene_map_as(&scene, 0, MISC_USER, &mmap);
	mmap.start = 0x20000;
	mmap.generation = 33;
	scene_map_as(&scene, 10, MISC_USER, &mmap);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	struct place one =
		timeline_locate(scene.timeline, 1, 15, MISC_USER, abs_addr_of(0x10000), NULL);
	struct place other =
		timeline_locate(scene.timeline, 1, 15, MISC_USER, abs_addr_of(0x20000), NULL);
	CHECK(one.image != other.image);
	CHECK(one.image < timeline_early_count(scene.timeline));
	scene_finish(&scene);
	CHECK_UINT(timeline_final_number(scene.timeline, one.image),
		   timeline_final_number(scene.timeline, other.image));
	scene_leave(&scene);
}
