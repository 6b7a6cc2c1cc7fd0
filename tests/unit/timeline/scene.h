// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A timeline and the records that it is made of, told one by one.
#ifndef TESTS_TIMELINE_SCENE_H
#define TESTS_TIMELINE_SCENE_H

#include "base/buffer.h"
#include "perfdata/record_build.h"
#include "timeline/timeline.h"

// A timeline and the records it is made of, given to it in the order they are written here.
struct scene {
	struct timeline *timeline;
	struct buffer buffer;
	struct event event;
	struct events events;
	uint64_t position;
};

void scene_begin_with(struct scene *scene, bool has_no_times);
void scene_begin(struct scene *scene);
void scene_leave(struct scene *scene);

// Hands the record in the buffer to the timeline.
void scene_give(struct scene *scene);

// The trailer of a record that the kernel wrote at TIME; 0: that the recorder synthesized.
struct stamp scene_at(uint64_t time);

void scene_map_as(struct scene *scene, uint64_t time, uint16_t cpumode,
		  const struct mmap_record *mmap);
// 0x1000 bytes of file INODE at START, from page 1 of the file on.
void scene_map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, const char *path,
	       uint64_t inode);
// The same with an ID of bytes DIGIT, from the file's first byte on.
void scene_map_id(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start,
		  const char *path, uint8_t digit);
void scene_map_kernel(struct scene *scene, uint64_t time, uint64_t start, uint64_t length,
		      uint64_t page_offset, const char *path);
void scene_comm(struct scene *scene, uint64_t time, uint32_t tid, const char *name, bool is_exec);
void scene_task(struct scene *scene, uint32_t type, uint64_t time, const struct task_record *task);
void scene_fork(struct scene *scene, uint64_t time, uint32_t parent, uint32_t child);
void scene_exit(struct scene *scene, uint64_t time, uint32_t pid);
// An entry of the table of build IDs.
void scene_claim(struct scene *scene, uint16_t misc, const char *path, uint8_t digit);

void scene_finish(struct scene *scene);

// "path+0xOFFSET", or the reason why not. Asked with and without a cache, that is used all over.
const char *scene_where(const struct scene *scene, uint32_t pid, uint64_t time, unsigned cpumode,
			uint64_t address);
const char *in_user(const struct scene *scene, uint32_t pid, uint64_t time, uint64_t address);
const char *in_kernel(const struct scene *scene, uint64_t time, uint64_t address);
const struct image *image_at(const struct scene *scene, uint32_t pid, uint64_t time,
			     uint64_t address);

#endif
