// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"
#include "perfdata/record_build.h"

// A timeline and the records it is made of, given to it in the order they are written here.
struct scene {
	struct timeline *timeline;
	struct buffer buffer;
	struct event event;
	struct events events;
	uint64_t position;
};

static void begin_with(struct scene *scene, bool has_no_times)
{
	struct timeline_options options = { .has_no_times = has_no_times };
	*scene = (struct scene){ 0 };
	CHECK_OK(timeline_new(&options, &scene->timeline));
	scene->event.attr.sample_type = WRITTEN_TRAILER;
	scene->event.attr.flags = UINT64_C(1) << ATTR_SAMPLE_ID_ALL;
	event_lay_out(&scene->event);
	scene->events.items = &scene->event;
	scene->events.count = 1;
	scene->events.trailer_id_at = NO_FIELD;
}

static void begin(struct scene *scene)
{
	begin_with(scene, false);
}

static void leave(struct scene *scene)
{
	timeline_free(scene->timeline);
	buffer_fini(&scene->buffer);
}

// Hands the record in the buffer to the timeline.
static void give(struct scene *scene)
{
	REQUIRE(!scene->buffer.failed);
	struct record record = { .bytes = scene->buffer.bytes,
				 .size = (uint32_t)scene->buffer.size };
	memcpy(&record.type, record.bytes, sizeof record.type);
	memcpy(&record.misc, record.bytes + 4, sizeof record.misc);
	record.offset = record.position = scene->position += record.size;
	CHECK_OK(timeline_add(scene->timeline, &scene->events, &record));
	scene->buffer.size = 0;
}

static struct stamp at(uint64_t time)
{
	// What the kernel writes has an event's ID.
	return (struct stamp){ .time = time, .id = time ? 1 : 0 };
}

static void map_as(struct scene *scene, uint64_t time, uint16_t cpumode,
		   const struct mmap_record *mmap)
{
	struct stamp stamp = at(time);
	record_build_mmap(&scene->buffer, mmap, cpumode, &stamp);
	give(scene);
}

// 0x1000 bytes of file INODE at START, from page 1 of the file on.
static void map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, const char *path,
		uint64_t inode)
{
	struct mmap_record mmap = { .pid = pid,
				    .tid = pid,
				    .start = start,
				    .length = 0x1000,
				    .page_offset = 0x1000,
				    .inode = inode,
				    .generation = 9,
				    .has_inode = true,
				    .path = path };
	map_as(scene, time, MISC_USER, &mmap);
}

static void map_id(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start,
		   const char *path, uint8_t digit)
{
	struct mmap_record mmap = { .pid = pid,
				    .tid = pid,
				    .start = start,
				    .length = 0x1000,
				    .path = path,
				    .id.size = 20 };
	memset(mmap.id.bytes, digit, 20);
	map_as(scene, time, MISC_USER, &mmap);
}

static void map_kernel(struct scene *scene, uint64_t time, uint64_t start, uint64_t length,
		       uint64_t page_offset, const char *path)
{
	struct mmap_record mmap = { .pid = UINT32_MAX,
				    .start = start,
				    .length = length,
				    .page_offset = page_offset,
				    .path = path };
	map_as(scene, time, MISC_KERNEL, &mmap);
}

static void comm(struct scene *scene, uint64_t time, uint32_t tid, const char *name, bool is_exec)
{
	struct comm_record record = { .pid = tid, .tid = tid, .is_exec = is_exec, .comm = name };
	struct stamp stamp = at(time);
	record_build_comm(&scene->buffer, &record, &stamp);
	give(scene);
}

static void task(struct scene *scene, uint32_t type, uint64_t time, const struct task_record *task)
{
	struct stamp stamp = at(time);
	record_build_task(&scene->buffer, type, task, &stamp);
	give(scene);
}

static void fork_of(struct scene *scene, uint64_t time, uint32_t parent, uint32_t child)
{
	task(scene, RECORD_FORK, time, &(struct task_record){ child, parent, child, parent, time });
}

static void exit_of(struct scene *scene, uint64_t time, uint32_t pid)
{
	task(scene, RECORD_EXIT, time, &(struct task_record){ pid, pid, pid, pid, time });
}

static void claim(struct scene *scene, uint16_t misc, const char *path, uint8_t digit)
{
	struct build_id_record entry = { .misc = misc, .path = path, .id.size = 20 };
	memset(entry.id.bytes, digit, 20);
	CHECK_OK(timeline_add_build_id(scene->timeline, &entry));
}

static void finish(struct scene *scene)
{
	CHECK_OK(timeline_finish(scene->timeline));
}

// "path+0xOFFSET", or the reason why not. Asked with and without a cache, that is used all over.
static const char *where(const struct scene *scene, uint32_t pid, uint64_t time, unsigned cpumode,
			 uint64_t address)
{
	static struct timeline_cache cache;
	static const struct scene *of;
	static char text[256];
	if (of != scene || scene->position)
		memset(&cache, 0, sizeof cache);
	of = scene;
	struct place place = { 0 };
	for (unsigned round = 0; round < 3; round++) {
		struct place again = timeline_locate(scene->timeline, pid, time, cpumode,
						     abs_addr_of(address), round ? &cache : NULL);
		if (round)
			CHECK(again.image == place.image && again.reason == place.reason &&
			      again.offset.value == place.offset.value);
		place = again;
	}
	if (place.image == NO_IMAGE) {
		snprintf(text, sizeof text, "%s", unknown_reason_name(place.reason));
		return text;
	}
	const struct image *image = timeline_image(scene->timeline, place.image);
	snprintf(text, sizeof text, "%s+0x%llx", image->path,
		 (unsigned long long)place.offset.value);
	return text;
}

static const char *in_user(const struct scene *scene, uint32_t pid, uint64_t time, uint64_t address)
{
	return where(scene, pid, time, MISC_USER, address);
}

static const char *in_kernel(const struct scene *scene, uint64_t time, uint64_t address)
{
	return where(scene, 1, time, MISC_KERNEL, address);
}

static const struct image *image_at(const struct scene *scene, uint32_t pid, uint64_t time,
				    uint64_t address)
{
	static const struct image none = { .kind = IMAGE_KINDS };
	struct place place =
		timeline_locate(scene->timeline, pid, time, MISC_USER, abs_addr_of(address), NULL);
	CHECK(place.image != NO_IMAGE);
	return place.image == NO_IMAGE ? &none : timeline_image(scene->timeline, place.image);
}

TEST(records_are_ordered_by_time_and_not_by_their_place_in_the_file)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 30, 1, 0x10000, "/b", 2);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 5, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 1, 10, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 29, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "no-process");
	leave(&scene);
}

TEST(of_records_with_the_same_time_the_later_in_the_file_counts)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	map(&scene, 10, 1, 0x10000, "/b", 2);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 10, 0x10010), "/b+0x1010");
	leave(&scene);
}

TEST(synthesized_records_come_before_all_of_their_process)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 20, 1, 0x10000, "/new", 2);
	map(&scene, 0, 1, 0x10000, "/old", 1);
	map(&scene, UINT64_MAX, 1, 0x20000, "/odd", 3);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 19, 0x10010), "/old+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x10010), "/new+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 1, 0x20010), "/odd+0x1010");
	leave(&scene);
}

TEST(a_synthesized_fork_leaves_the_childs_mappings_alone)
{
	struct scene scene;
	begin(&scene);
	// As perf writes them: systemd, then a child of it, each with FORK, COMM and mappings.
	comm(&scene, 0, 1, "systemd", false);
	map(&scene, 0, 1, 0x10000, "/systemd", 1);
	fork_of(&scene, 0, 1, 5);
	comm(&scene, 0, 5, "sshd", false);
	map(&scene, 0, 5, 0x20000, "/sshd", 2);
	// And for a process whose records come the other way round.
	map(&scene, 0, 6, 0x20000, "/cron", 3);
	fork_of(&scene, 0, 1, 6);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 100, 0x20010), "/sshd+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 100, 0x20010), "/cron+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 100, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 6, 100, 0x10010), "unmapped");
	CHECK_TEXT(timeline_comm(scene.timeline, 5, 5, 100), "sshd");
	leave(&scene);
}

TEST(a_child_has_its_parents_mappings_of_the_moment_of_the_fork)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	fork_of(&scene, 20, 1, 2);
	map(&scene, 30, 1, 0x10000, "/b", 2);
	map(&scene, 30, 1, 0x20000, "/c", 3);
	map(&scene, 40, 2, 0x30000, "/d", 4);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 2, 50, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 50, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 50, 0x30010), "/d+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 50, 0x10010), "/b+0x1010");
	leave(&scene);
}

TEST(an_exec_leaves_nothing_of_what_was_mapped)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/shell", 1);
	fork_of(&scene, 20, 1, 2);
	comm(&scene, 30, 2, "ls", true);
	map(&scene, 31, 2, 0x20000, "/ls", 2);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 2, 29, 0x10010), "/shell+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 31, 0x10010), "unmapped");
	CHECK_TEXT(in_user(&scene, 2, 31, 0x20010), "/ls+0x1010");
	leave(&scene);
}

TEST(a_change_of_name_is_no_exec)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	comm(&scene, 20, 1, "worker", false);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/a+0x1010");
	leave(&scene);
}

TEST(an_old_kernels_exec_shows_as_a_mapping_that_replaces)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x400000, "/shell", 1);
	comm(&scene, 20, 1, "ls", false);
	map(&scene, 21, 1, 0x400000, "/ls", 2);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 20, 0x400010), "/shell+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 21, 0x400010), "/ls+0x1010");
	leave(&scene);
}

TEST(a_process_number_used_again_is_another_process)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/parent", 1);
	map(&scene, 10, 5, 0x20000, "/first", 2);
	exit_of(&scene, 20, 5);
	fork_of(&scene, 30, 1, 5);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 25, 0x20010), "/first+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x10010), "/parent+0x1010");
	leave(&scene);
}

TEST(a_process_whose_fork_was_lost_has_nothing_of_the_dead_one_before)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 5, 0x20000, "/first", 2);
	exit_of(&scene, 20, 5);
	map(&scene, 30, 5, 0x30000, "/second", 3);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "unmapped");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x30010), "/second+0x1010");
	leave(&scene);
}

TEST(a_process_lives_on_while_it_has_threads)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 5, 0x20000, "/a", 2);
	task(&scene, RECORD_FORK, 11, &(struct task_record){ 5, 5, 6, 5, 11 });
	exit_of(&scene, 20, 5);
	map(&scene, 30, 5, 0x30000, "/plugin", 3);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 31, 0x20010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 31, 0x30010), "/plugin+0x1010");
	leave(&scene);
}

TEST(a_childs_records_that_seem_older_than_its_fork_are_kept)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/parent", 1);
	map(&scene, 99, 5, 0x20000, "/own", 2);
	fork_of(&scene, 100, 1, 5);
	comm(&scene, 99, 6, "ls", true);
	map(&scene, 99, 6, 0x30000, "/ls", 3);
	fork_of(&scene, 100, 1, 6);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 5, 101, 0x20010), "/own+0x1010");
	CHECK_TEXT(in_user(&scene, 5, 101, 0x10010), "/parent+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 101, 0x30010), "/ls+0x1010");
	CHECK_TEXT(in_user(&scene, 6, 101, 0x10010), "unmapped");
	leave(&scene);
}

TEST(threads_are_named_by_themselves_then_by_who_began_them)
{
	struct scene scene;
	begin(&scene);
	comm(&scene, 0, 1, "shell", false);
	task(&scene, RECORD_FORK, 10, &(struct task_record){ 1, 1, 2, 1, 10 });
	comm(&scene, 20, 2, "worker", false);
	fork_of(&scene, 30, 1, 3);
	comm(&scene, 40, 3, "ls", true);
	finish(&scene);
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 9), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 19), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 2, 20), "worker");
	CHECK_TEXT(timeline_comm(scene.timeline, 3, 3, 39), "shell");
	CHECK_TEXT(timeline_comm(scene.timeline, 3, 3, 40), "ls");
	CHECK_TEXT(timeline_comm(scene.timeline, 0, 0, 40), "swapper");
	CHECK(timeline_comm(scene.timeline, 9, 9, 40) == NULL);
	leave(&scene);
}

TEST(without_times_the_order_of_the_file_is_that_of_time)
{
	struct scene scene;
	begin_with(&scene, true);
	map(&scene, 0, 1, 0x10000, "/a", 1);
	uint64_t between = scene.position;
	map(&scene, 0, 1, 0x10000, "/b", 2);
	fork_of(&scene, 7, 1, 2);
	fork_of(&scene, 0, 1, 3);
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, between + 1, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, scene.position, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 2, scene.position, 0x10010), "/b+0x1010");
	CHECK_TEXT(in_user(&scene, 3, scene.position, 0x10010), "no-process");
	leave(&scene);
}

TEST(offsets_count_what_the_kind_of_image_says)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/file", 1);
	map(&scene, 10, 1, 0x20000, "[vdso]", 0);
	map(&scene, 10, 1, 0x30000, "//anon", 0);
	map(&scene, 10, 1, 0x40000, "[heap]", 0);
	map_kernel(&scene, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text");
	map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "[ext4]");
	finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 20, 0x10010), "/file+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x20010), "[vdso]+0x10");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x30010), "//anon+0x30010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x40010), "[heap]+0x40010");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000123), "[kernel.kallsyms]+0x123");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0000123), "[ext4]+0x123");
	leave(&scene);
}

TEST(the_kernels_map_may_claim_everything_and_modules_still_are_modules)
{
	struct scene scene;
	begin(&scene);
	map_kernel(&scene, 0, 0xffffffff81000000, UINT64_MAX, 0xffffffff81000000,
		   "[kernel.kallsyms]_stext");
	map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "/lib/modules/6/ext4.ko");
	finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000010), "[kernel.kallsyms]+0x10");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0000010), "/lib/modules/6/ext4.ko+0x10");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0005000), "[kernel.kallsyms]+0x3f005000");
	struct place place = timeline_locate(scene.timeline, 1, 5, MISC_KERNEL,
					     abs_addr_of(0xffffffff81000010), NULL);
	const struct image *kernel = timeline_image(scene.timeline, place.image);
	CHECK_TEXT(kernel->reference_symbol, "_stext");
	CHECK_UINT(kernel->reference_address, 0xffffffff81000000);
	CHECK_UINT(kernel->kind, IMAGE_KERNEL);
	leave(&scene);
}

TEST(a_kernel_without_a_map_is_the_kernel_all_the_same)
{
	struct scene scene;
	begin(&scene);
	claim(&scene, MISC_KERNEL, "[kernel.kallsyms]", 3);
	finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000010),
		   "[kernel.kallsyms]+0xffffffff81000010");
	CHECK_UINT(timeline_image_count(scene.timeline), 1);
	CHECK_UINT(timeline_image(scene.timeline, 0)->identity, IDENTITY_AFTER_THE_FACT);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 0), 0);
	leave(&scene);
}

TEST(a_module_ends_where_the_next_begins_in_whatever_order_they_are_told)
{
	for (unsigned order = 0; order < 2; order++) {
		struct scene scene;
		begin(&scene);
		if (order)
			map_kernel(&scene, 0, 0xffffffffc0002000, 0x4000, 0, "[b]");
		map_kernel(&scene, 0, 0xffffffffc0000000, 0x9000, 0, "[a]");
		if (!order)
			map_kernel(&scene, 0, 0xffffffffc0002000, 0x4000, 0, "[b]");
		finish(&scene);
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0001000), "[a]+0x1000");
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0002000), "[b]+0x0");
		// Behind the next module's end nothing is this module's any more.
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0007000),
			   "[kernel.kallsyms]+0xffffffffc0007000");
		leave(&scene);
	}
}

TEST(a_module_that_is_loaded_again_is_told_apart_by_time)
{
	struct scene scene;
	begin(&scene);
	map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "[old]");
	map_kernel(&scene, 50, 0xffffffffc0000000, 0x4000, 0, "[new]");
	finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 49, 0xffffffffc0001000), "[old]+0x1000");
	CHECK_TEXT(in_kernel(&scene, 50, 0xffffffffc0001000), "[new]+0x1000");
	leave(&scene);
}

TEST(kernel_symbols_come_and_go)
{
	struct scene scene;
	begin(&scene);
	struct ksymbol_record symbol = {
		.start = 0xffffffffc1000000, .length = 100, .type = 1, .name = "bpf_prog_1234_f"
	};
	struct stamp stamp = at(10);
	record_build_ksymbol(&scene.buffer, &symbol, &stamp);
	give(&scene);
	symbol.is_unregister = true;
	stamp = at(20);
	record_build_ksymbol(&scene.buffer, &symbol, &stamp);
	give(&scene);
	finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 15, 0xffffffffc1000010), "bpf_prog_1234_f+0xffffffffc1000010");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc1000010),
		   "[kernel.kallsyms]+0xffffffffc1000010");
	leave(&scene);
}

TEST(a_guests_kernel_is_not_the_hosts)
{
	struct scene scene;
	begin(&scene);
	map_kernel(&scene, 0, 0xffffffff81000000, 0x1000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text");
	struct mmap_record guest = { .pid = 77,
				     .start = 0xffffffff81000000,
				     .length = 0x1000,
				     .page_offset = 0xffffffff81000000,
				     .path = "[guest.kernel.kallsyms.77]_text" };
	map_as(&scene, 0, MISC_GUEST_KERNEL, &guest);
	finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 5, 0xffffffff81000010), "[kernel.kallsyms]+0x10");
	CHECK_TEXT(where(&scene, 77, 5, MISC_GUEST_KERNEL, 0xffffffff81000010),
		   "[guest.kernel.kallsyms.77]+0x10");
	CHECK_TEXT(where(&scene, 78, 5, MISC_GUEST_KERNEL, 0xffffffff81000010), "no-process");
	leave(&scene);
}

TEST(an_identity_tells_when_it_was_bound)
{
	struct scene scene;
	begin(&scene);
	map_id(&scene, 0, 1, 0x10000, "/a", 1);
	map_id(&scene, 10, 2, 0x10000, "/a", 1);
	map(&scene, 10, 3, 0x10000, "/b", 5);
	claim(&scene, MISC_USER, "/b", 2);
	finish(&scene);
	CHECK_UINT(image_at(&scene, 1, 20, 0x10010)->identity, IDENTITY_SYNTHESIZED);
	CHECK_UINT(image_at(&scene, 2, 20, 0x10010)->identity, IDENTITY_MAP_TIME);
	CHECK_UINT(image_at(&scene, 3, 20, 0x10010)->identity, IDENTITY_AFTER_THE_FACT);
	leave(&scene);
}

TEST(a_file_replaced_while_it_ran_is_never_taken_for_its_successor)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/lib/foo.so", 5);
	map(&scene, 20, 2, 0x10000, "/lib/foo.so", 6);
	claim(&scene, MISC_USER, "/lib/foo.so", 2);
	finish(&scene);
	const struct image *first = image_at(&scene, 1, 30, 0x10010);
	const struct image *second = image_at(&scene, 2, 30, 0x10010);
	CHECK(first != second);
	CHECK_UINT(first->identity, IDENTITY_AMBIGUOUS);
	CHECK_UINT(second->identity, IDENTITY_AMBIGUOUS);
	leave(&scene);
}

TEST(a_stretch_reaches_as_far_as_the_answer_is_the_same)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	map(&scene, 30, 1, 0x10800, "/b", 2);
	finish(&scene);
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
	leave(&scene);
}

TEST(mappings_are_counted_by_image)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	map(&scene, 10, 2, 0x10000, "/a", 1);
	map(&scene, 10, 2, 0x20000, "/b", 2);
	finish(&scene);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 0), 2);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 1), 1);
	CHECK_TEXT(timeline_image(scene.timeline, 0)->path, "/a");
	leave(&scene);
}

TEST(what_is_known_to_be_complete_may_be_asked_before_the_end)
{
	struct scene scene;
	begin(&scene);
	map(&scene, 0, 1, 0x10000, "/a", 1);
	map(&scene, 10, 1, 0x10000, "/b", 2);
	map(&scene, 30, 1, 0x10000, "/c", 3);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	CHECK_TEXT(in_user(&scene, 1, 9, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 19, 0x10010), "/b+0x1010");
	map(&scene, 25, 1, 0x20000, "/d", 4);
	fork_of(&scene, 20, 1, 2);
	CHECK_OK(timeline_advance(scene.timeline, 26));
	CHECK_TEXT(in_user(&scene, 1, 25, 0x20010), "/d+0x1010");
	finish(&scene);
	CHECK(!timeline_was_late(scene.timeline));
	CHECK_TEXT(in_user(&scene, 1, 9, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 30, 0x10010), "/c+0x1010");
	CHECK_TEXT(in_user(&scene, 2, 30, 0x10010), "/b+0x1010");
	leave(&scene);
}

TEST(a_record_that_comes_too_late_is_told_of_and_counts_in_the_end)
{
	struct scene scene;
	begin(&scene);
	comm(&scene, 5, 1, "first", false);
	map(&scene, 10, 1, 0x10000, "/a", 1);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	map(&scene, 15, 1, 0x10000, "/b", 2);
	comm(&scene, 7, 1, "second", false);
	finish(&scene);
	CHECK(timeline_was_late(scene.timeline));
	CHECK_TEXT(in_user(&scene, 1, 14, 0x10010), "/a+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 15, 0x10010), "/b+0x1010");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 1, 6), "first");
	CHECK_TEXT(timeline_comm(scene.timeline, 1, 1, 7), "second");
	leave(&scene);
}

TEST(numbers_of_images_given_early_lead_to_the_final_ones)
{
	struct scene scene;
	begin(&scene);
	// One file, of which /proc did not tell the generation.
	struct mmap_record mmap = { .pid = 1,
				    .tid = 1,
				    .start = 0x10000,
				    .length = 0x1000,
				    .inode = 5,
				    .has_inode = true,
				    .path = "/a" };
	map_as(&scene, 0, MISC_USER, &mmap);
	mmap.start = 0x20000;
	mmap.generation = 33;
	map_as(&scene, 10, MISC_USER, &mmap);
	CHECK_OK(timeline_advance(scene.timeline, 20));
	struct place one =
		timeline_locate(scene.timeline, 1, 15, MISC_USER, abs_addr_of(0x10000), NULL);
	struct place other =
		timeline_locate(scene.timeline, 1, 15, MISC_USER, abs_addr_of(0x20000), NULL);
	CHECK(one.image != other.image);
	CHECK(one.image < timeline_early_count(scene.timeline));
	finish(&scene);
	CHECK_UINT(timeline_final_number(scene.timeline, one.image),
		   timeline_final_number(scene.timeline, other.image));
	leave(&scene);
}
