// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Processes and their address spaces: forks, execs, exits, and the order of what is told of them.
#include <string.h>

#include "harness/tap.h"
#include "unit/timeline/scene.h"

TEST(records_are_ordered_by_time_and_not_by_their_place_in_the_file)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 30, 1, 0x10000, "/b", 2);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 5, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 1, 10, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 29, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "no-process");
	scene_leave(&scene);
}

TEST(of_records_with_the_same_time_the_later_in_the_file_counts)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_map(&scene, 10, 1, 0x10000, "/b", 2);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 10, 0x10010), "/b+0x1010");
	scene_leave(&scene);
}

TEST(synthesized_records_come_before_all_of_their_process)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 20, 1, 0x10000, "/new", 2);
	scene_map(&scene, 0, 1, 0x10000, "/old", 1);
	scene_map(&scene, UINT64_MAX, 1, 0x20000, "/odd", 3);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 19, 0x10010), "/old+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x10010), "/new+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 1, 0x20010), "/odd+0x1010");
	scene_leave(&scene);
}

TEST(a_synthesized_fork_leaves_the_childs_mappings_alone)
{
	struct scene scene;
	scene_begin(&scene);
	// As perf writes them: systemd, then a child of it, each with FORK, COMM and mappings.
	scene_comm(&scene, 0, 1, "systemd", false);
	scene_map(&scene, 0, 1, 0x10000, "/systemd", 1);
	scene_fork(&scene, 0, 1, 5);
	scene_comm(&scene, 0, 5, "sshd", false);
	scene_map(&scene, 0, 5, 0x20000, "/sshd", 2);
	// And for a process whose records come the other way round.
	scene_map(&scene, 0, 6, 0x20000, "/cron", 3);
	scene_fork(&scene, 0, 1, 6);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 100, 0x20010), "/sshd+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 100, 0x20010), "/cron+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 100, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 6, 100, 0x10010), "unmapped");
	CHECK_TEXT(timeline_comm(scene.timeline, 5, 5, 100), "sshd");
	scene_leave(&scene);
}

TEST(a_child_has_its_parents_mappings_of_the_moment_of_the_fork)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_fork(&scene, 20, 1, 2);
	scene_map(&scene, 30, 1, 0x10000, "/b", 2);
	scene_map(&scene, 30, 1, 0x20000, "/c", 3);
	scene_map(&scene, 40, 2, 0x30000, "/d", 4);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 2, 50, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 50, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 50, 0x30010), "/d+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 50, 0x10010), "/b+0x1010");
	scene_leave(&scene);
}

TEST(an_exec_leaves_nothing_of_what_was_mapped)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/shell", 1);
	scene_fork(&scene, 20, 1, 2);
	scene_comm(&scene, 30, 2, "ls", true);
	scene_map(&scene, 31, 2, 0x20000, "/ls", 2);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 2, 29, 0x10010), "/shell+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 31, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 31, 0x20010), "/ls+0x1010");
	scene_leave(&scene);
}

TEST(a_change_of_name_is_no_exec)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/a", 1);
	scene_comm(&scene, 20, 1, "worker", false);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/a+0x1010");
	scene_leave(&scene);
}

TEST(an_old_kernels_exec_shows_as_a_mapping_that_replaces)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x400000, "/shell", 1);
	scene_comm(&scene, 20, 1, "ls", false);
	scene_map(&scene, 21, 1, 0x400000, "/ls", 2);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 20, 0x400010), "/shell+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 21, 0x400010), "/ls+0x1010");
	scene_leave(&scene);
}

TEST(a_process_number_used_again_is_another_process)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/parent", 1);
	scene_map(&scene, 10, 5, 0x20000, "/first", 2);
	scene_exit(&scene, 20, 5);
	scene_fork(&scene, 30, 1, 5);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 25, 0x20010), "/first+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x10010), "/parent+0x1010");
	scene_leave(&scene);
}

TEST(a_process_whose_fork_was_lost_has_nothing_of_the_dead_one_before)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 5, 0x20000, "/first", 2);
	scene_exit(&scene, 20, 5);
	scene_map(&scene, 30, 5, 0x30000, "/second", 3);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x30010), "/second+0x1010");
	scene_leave(&scene);
}

TEST(a_process_lives_on_while_it_has_threads)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 5, 0x20000, "/a", 2);
	scene_task(&scene, RECORD_FORK, 11, &(struct task_record){ 5, 5, 6, 5, 11 });
	scene_exit(&scene, 20, 5);
	scene_map(&scene, 30, 5, 0x30000, "/plugin", 3);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x30010), "/plugin+0x1010");
	scene_leave(&scene);
}

TEST(a_childs_records_that_seem_older_than_its_fork_are_kept)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/parent", 1);
	scene_map(&scene, 99, 5, 0x20000, "/own", 2);
	scene_fork(&scene, 100, 1, 5);
	scene_comm(&scene, 99, 6, "ls", true);
	scene_map(&scene, 99, 6, 0x30000, "/ls", 3);
	scene_fork(&scene, 100, 1, 6);
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 101, 0x20010), "/own+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 101, 0x10010), "/parent+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 101, 0x30010), "/ls+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 101, 0x10010), "unmapped");
	scene_leave(&scene);
}

// The next process is PID, and has PATHS mapped at 0x10000 and 0x20000, and nothing else.
static void check_next(const struct scene *scene, size_t *at, uint32_t pid,
		       const char *const *paths)
{
	uint32_t found_pid = 0;
	struct stretch found = { 0 };
	REQUIRE(timeline_next_process(scene->timeline, at, &found_pid));
	CHECK_UINT(found_pid, pid);
	for (uint64_t i = 0; i < 2; i++) {
		REQUIRE(timeline_last_mapping(scene->timeline, pid, MISC_USER,
					      abs_addr_of(found.end), &found));
		CHECK_UINT(found.start, 0x10000 * (i + 1));
		CHECK_TEXT(timeline_image(scene->timeline, found.image)->path, paths[i]);
	}
	CHECK(!timeline_last_mapping(scene->timeline, pid, MISC_USER, abs_addr_of(found.end),
				     &found));
}

TEST(processes_and_their_last_mappings_can_be_gone_through)
{
	static const char *const first[] = { "/c", "/b" }, *const second[] = { "/a", "/b" };
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 1, 1, 0x10000, "/a", 1);
	scene_map(&scene, 2, 1, 0x20000, "/b", 2);
	scene_fork(&scene, 3, 1, 2);
	scene_map(&scene, 4, 1, 0x10000, "/c", 3);
	scene_exit(&scene, 5, 2);
	scene_comm(&scene, 6, 3, "no mappings", false);
	scene_finish(&scene);
	size_t at = 0;
	uint32_t pid;
	check_next(&scene, &at, 1, first);
	check_next(&scene, &at, 2, second);
	CHECK(!timeline_next_process(scene.timeline, &at, &pid));
	scene_leave(&scene);
}

TEST(what_is_loaded_into_the_kernel_can_be_gone_through)
{
	struct scene scene;
	struct stretch module = { 0 };
	scene_begin(&scene);
	scene_map_kernel(&scene, 0, 0xffffffffc0000000, 0x1000, 0, "[ext4]");
	scene_finish(&scene);
	REQUIRE(timeline_last_mapping(scene.timeline, 0, MISC_KERNEL, abs_addr_of(0), &module));
	CHECK_UINT(module.start, 0xffffffffc0000000);
	CHECK_TEXT(timeline_image(scene.timeline, module.image)->path, "[ext4]");
	CHECK(!timeline_last_mapping(scene.timeline, 0, MISC_KERNEL, abs_addr_of(module.end),
				     &module));
	scene_leave(&scene);
}
