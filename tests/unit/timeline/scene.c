// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A timeline and the records that it is made of, told one by one.
#include "unit/timeline/scene.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

void scene_begin_with(struct scene *scene, bool has_no_times)
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

void scene_begin(struct scene *scene)
{
	scene_begin_with(scene, false);
}

void scene_leave(struct scene *scene)
{
	timeline_free(scene->timeline);
	buffer_fini(&scene->buffer);
}

void scene_give(struct scene *scene)
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

struct stamp scene_at(uint64_t time)
{
	// What the kernel writes has an event's ID.
	return (struct stamp){ .time = time, .id = time ? 1 : 0 };
}

void scene_map_as(struct scene *scene, uint64_t time, uint16_t cpumode,
		  const struct mmap_record *mmap)
{
	struct stamp stamp = scene_at(time);
	record_build_mmap(&scene->buffer, mmap, cpumode, &stamp);
	scene_give(scene);
}

void scene_map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, const char *path,
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
	scene_map_as(scene, time, MISC_USER, &mmap);
}

void scene_map_id(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start,
		  const char *path, uint8_t digit)
{
	struct mmap_record mmap = { .pid = pid,
				    .tid = pid,
				    .start = start,
				    .length = 0x1000,
				    .path = path,
				    .id.size = 20 };
	memset(mmap.id.bytes, digit, 20);
	scene_map_as(scene, time, MISC_USER, &mmap);
}

void scene_map_kernel(struct scene *scene, uint64_t time, uint64_t start, uint64_t length,
		      uint64_t page_offset, const char *path)
{
	struct mmap_record mmap = { .pid = UINT32_MAX,
				    .start = start,
				    .length = length,
				    .page_offset = page_offset,
				    .path = path };
	scene_map_as(scene, time, MISC_KERNEL, &mmap);
}

void scene_comm(struct scene *scene, uint64_t time, uint32_t tid, const char *name, bool is_exec)
{
	struct comm_record record = { .pid = tid, .tid = tid, .is_exec = is_exec, .comm = name };
	struct stamp stamp = scene_at(time);
	record_build_comm(&scene->buffer, &record, &stamp);
	scene_give(scene);
}

void scene_task(struct scene *scene, uint32_t type, uint64_t time, const struct task_record *task)
{
	struct stamp stamp = scene_at(time);
	record_build_task(&scene->buffer, type, task, &stamp);
	scene_give(scene);
}

void scene_fork(struct scene *scene, uint64_t time, uint32_t parent, uint32_t child)
{
	scene_task(scene, RECORD_FORK, time,
		   &(struct task_record){ child, parent, child, parent, time });
}

void scene_exit(struct scene *scene, uint64_t time, uint32_t pid)
{
	scene_task(scene, RECORD_EXIT, time, &(struct task_record){ pid, pid, pid, pid, time });
}

void scene_claim(struct scene *scene, uint16_t misc, const char *path, uint8_t digit)
{
	struct build_id_record entry = { .misc = misc, .path = path, .id.size = 20 };
	memset(entry.id.bytes, digit, 20);
	CHECK_OK(timeline_add_build_id(scene->timeline, &entry));
}

void scene_finish(struct scene *scene)
{
	CHECK_OK(timeline_finish(scene->timeline));
}

const char *scene_where(const struct scene *scene, uint32_t pid, uint64_t time, unsigned cpumode,
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

const char *in_user(const struct scene *scene, uint32_t pid, uint64_t time, uint64_t address)
{
	return scene_where(scene, pid, time, MISC_USER, address);
}

const char *in_kernel(const struct scene *scene, uint64_t time, uint64_t address)
{
	return scene_where(scene, 1, time, MISC_KERNEL, address);
}

const struct image *image_at(const struct scene *scene, uint32_t pid, uint64_t time,
			     uint64_t address)
{
	static const struct image none = { .kind = IMAGE_KINDS };
	struct place place =
		timeline_locate(scene->timeline, pid, time, MISC_USER, abs_addr_of(address), NULL);
	CHECK(place.image != NO_IMAGE);
	return place.image == NO_IMAGE ? &none : timeline_image(scene->timeline, place.image);
}
