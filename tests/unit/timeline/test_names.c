// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What threads and cgroups are called through time.
#include <string.h>

#include <string.h>

#include "harness/tap.h"
#include "unit/timeline/scene.h"

TEST(threads_are_named_by_themselves_then_by_who_began_them)
{
	struct scene scene;
	scene_begin(&scene);
	scene_comm(&scene, 0, 1, "shell", false);
	scene_task(&scene, RECORD_FORK, 10, &(struct task_record){ 1, 1, 2, 1, 10 });
	scene_comm(&scene, 20, 2, "worker", false);
	scene_fork(&scene, 30, 1, 3);
	scene_comm(&scene, 40, 3, "ls", true);
	scene_finish(&scene);
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 9), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 19), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 20), "worker");
	CHECK_TEXT(timeline_comm(scene.timeline, 3, 3, 39), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 3, 3, 40), "ls");
	CHECK_TEXT(timeline_comm(scene.timeline, 0, 0, 40), "swapper");
	CHECK(timeline_comm(scene.timeline, 9, 9, 40) == NULL);
	scene_leave(&scene);
}

TEST(a_thread_is_in_the_namespaces_it_was_told_of_last_or_began_with)
{
	struct scene scene;
	struct stamp stamp;
	struct namespace_link first[NAMESPACE_LINKS] = { { 4, 10 }, { 4, 11 }, { 4, 12 }, { 4, 13 },
							 { 4, 14 }, { 4, 15 }, { 4, 16 } };
	struct namespace_link second[NAMESPACE_LINKS];
	memcpy(second, first, sizeof first);
	second[NAMESPACE_MOUNT].inode = 99;
	scene_begin(&scene);
	stamp = scene_at(0);
	record_build_namespaces(&scene.buffer, 1, 1, first, &stamp);
	scene_give(&scene);
	scene_fork(&scene, 10, 1, 2);
	stamp = scene_at(20);
	record_build_namespaces(&scene.buffer, 2, 2, second, &stamp);
	scene_give(&scene);
	scene_task(&scene, RECORD_FORK, 30, &(struct task_record){ 2, 2, 3, 2, 30 });
	scene_finish(&scene);
	const struct namespace_set *before = timeline_namespaces(scene.timeline, 2, 2, 19);
	const struct namespace_set *after = timeline_namespaces(scene.timeline, 2, 2, 20);
	REQUIRE(before && after);
	CHECK(before == timeline_namespaces(scene.timeline, 1, 1, 50));
	CHECK(after == timeline_namespaces(scene.timeline, 2, 3, 40));
	// A thread of which nothing is known is where its process is.
	CHECK(after == timeline_namespaces(scene.timeline, 2, 7, 40));
	CHECK(timeline_namespaces(scene.timeline, 9, 9, 40) == NULL);
	CHECK(timeline_namespaces(scene.timeline, 2, 2, 9) == NULL);
	CHECK_UINT(before->kinds[NAMESPACE_MOUNT].inode, 15);
	CHECK_UINT(after->kinds[NAMESPACE_MOUNT].inode, 99);
	CHECK_UINT(after->kinds[NAMESPACE_CGROUP].device, 4);
	CHECK_UINT(after->kinds[NAMESPACE_CGROUP].inode, 16);
	scene_leave(&scene);
}

TEST(fewer_kinds_of_namespaces_than_there_are_leave_the_rest_unknown)
{
	struct scene scene;
	struct stamp stamp = scene_at(5);
	const struct namespace_link links[NAMESPACE_LINKS] = { { 4, 10 }, { 4, 11 } };
	enum { HEADER = 8, FIXED = 16, LINK = 16 };
	scene_begin(&scene);
	record_build_namespaces(&scene.buffer, 1, 1, links, &stamp);
	// An older kernel's: two links, and the trailer right behind them.
	uint64_t count = 2;
	size_t dropped = (NAMESPACE_LINKS - 2) * LINK, kept = HEADER + FIXED + 2 * LINK;
	memcpy(scene.buffer.bytes + HEADER + 8, &count, sizeof count);
	memmove(scene.buffer.bytes + kept, scene.buffer.bytes + kept + dropped,
		scene.buffer.size - kept - dropped);
	scene.buffer.size -= dropped;
	uint16_t size = (uint16_t)scene.buffer.size;
	memcpy(scene.buffer.bytes + 6, &size, sizeof size);
	scene_give(&scene);
	scene_finish(&scene);
	const struct namespace_set *set = timeline_namespaces(scene.timeline, 1, 1, 5);
	REQUIRE(set);
	CHECK_UINT(set->kinds[NAMESPACE_UTS].inode, 11);
	CHECK_UINT(set->kinds[NAMESPACE_MOUNT].inode, 0);
	scene_leave(&scene);
}

static void cgroup(struct scene *scene, uint64_t time, uint64_t id, const char *path)
{
	struct stamp stamp = scene_at(time);
	record_build_cgroup(&scene->buffer, &(struct cgroup_record){ id, path }, &stamp);
	scene_give(scene);
}

TEST(a_cgroup_is_called_what_it_was_called_then)
{
	struct scene scene;
	scene_begin(&scene);
	// Numbers of cgroups are of 64 bits.
	const uint64_t one = (UINT64_C(7) << 32) + 1, other = 1;
	cgroup(&scene, 0, one, "/system.slice/a.service");
	cgroup(&scene, 0, other, "/");
	cgroup(&scene, 20, one, "/system.slice/b.service");
	scene_finish(&scene);
	CHECK_TEXT(timeline_cgroup(scene.timeline, one, 19), "/system.slice/a.service");
	CHECK_TEXT(timeline_cgroup(scene.timeline, one, 20), "/system.slice/b.service");
	CHECK_TEXT(timeline_cgroup(scene.timeline, other, 20), "/");
	CHECK(timeline_cgroup(scene.timeline, 2, 20) == NULL);
	scene_leave(&scene);
}
