// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Code that a program moved to anonymous memory, as onto huge pages, is taken for its file's where
// the file's mappings stand around it, and is marked.
#include <string.h>

#include "harness/tap.h"
#include "unit/timeline/scene.h"

enum { TEXT = 0x200000, MOVED = 0x400000, REST = 0x600000, END = 0x800000 };

static void map_file(struct scene *scene, uint64_t time, uint64_t start, uint64_t end,
		     uint64_t offset, uint8_t id)
{
	struct mmap_record mmap = { .pid = 1,
				    .tid = 1,
				    .start = start,
				    .length = end - start,
				    .page_offset = offset,
				    .path = "/bin/big" };
	if (id) {
		mmap.id.size = 20;
		memset(mmap.id.bytes, id, 20);
	} else {
		mmap.inode = 5;
		mmap.has_inode = true;
	}
	scene_map_as(scene, time, MISC_USER, &mmap);
}

static void map_anonymous(struct scene *scene, uint64_t time, uint64_t start, uint64_t end,
			  const char *name)
{
	struct mmap_record mmap = {
		.pid = 1, .tid = 1, .start = start, .length = end - start, .path = name
	};
	scene_map_as(scene, time, MISC_USER, &mmap);
}

static void check(const struct scene *scene, uint64_t time, uint64_t address, const char *where,
		  const char *identity)
{
	CHECK_TEXT(in_user(scene, 1, time, address), where);
	CHECK_TEXT(identity_name(image_at(scene, 1, time, address)->identity), identity);
}

TEST(anonymous_memory_mapped_into_the_middle_of_a_file_is_that_files)
{
	struct scene scene;
	scene_begin(&scene);
	map_file(&scene, 10, TEXT, END, 0x1000, 1);
	map_anonymous(&scene, 20, MOVED, REST, "//anon");
	scene_finish(&scene);
	check(&scene, 19, MOVED + 0x10, "/bin/big+0x201010", "map-time");
	check(&scene, 20, MOVED + 0x10, "/bin/big+0x201010", "inferred");
	check(&scene, 20, TEXT + 0x10, "/bin/big+0x1010", "map-time");
	check(&scene, 20, REST, "/bin/big+0x401000", "map-time");
	scene_leave(&scene);
}

TEST(a_hole_that_was_there_when_the_recorder_began_is_inferred_too)
{
	struct scene scene;
	scene_begin(&scene);
	map_file(&scene, 0, TEXT, MOVED, 0x1000, 1);
	map_anonymous(&scene, 0, MOVED, REST, "/anon_hugepage (deleted)");
	map_file(&scene, 0, REST, END, 0x401000, 1);
	scene_finish(&scene);
	check(&scene, 5, MOVED, "/bin/big+0x201000", "inferred");
	check(&scene, 5, REST, "/bin/big+0x401000", "synthesized");
	// The file, what is inferred to be it, the anonymous memory, and the kernel.
	CHECK_UINT(timeline_image_count(scene.timeline), 4);
	scene_leave(&scene);
}

TEST(an_identity_by_path_and_none_at_all_are_inferred_no_better)
{
	struct scene scene;
	scene_begin(&scene);
	map_file(&scene, 10, TEXT, END, 0, 0);
	map_anonymous(&scene, 20, MOVED, REST, "//anon");
	scene_finish(&scene);
	check(&scene, 20, MOVED, "/bin/big+0x200000", "none");
	scene_leave(&scene);
	scene_begin(&scene);
	map_file(&scene, 10, TEXT, END, 0, 0);
	map_anonymous(&scene, 20, MOVED, REST, "//anon");
	scene_claim(&scene, MISC_USER, "/bin/big", 3);
	scene_finish(&scene);
	check(&scene, 20, TEXT, "/bin/big+0x0", "after-the-fact");
	check(&scene, 20, MOVED, "/bin/big+0x200000", "inferred");
	scene_leave(&scene);
}

TEST(anonymous_memory_elsewhere_is_anonymous)
{
	struct scene scene;
	scene_begin(&scene);
	// At the file's end; where a library was that may have been unmapped since.
	map_file(&scene, 10, TEXT, END, 0, 1);
	map_anonymous(&scene, 20, REST, END, "//anon");
	// Between mappings that are of one file, but not of one piece.
	map_file(&scene, 30, END, END + 0x1000, 0, 1);
	map_anonymous(&scene, 31, END + 0x1000, END + 0x2000, "//anon");
	map_file(&scene, 32, END + 0x2000, END + 0x3000, 0x7000, 1);
	// With a gap.
	map_anonymous(&scene, 40, 0x1001000, 0x1002000, "//anon");
	map_file(&scene, 41, 0x1003000, 0x1004000, 0x3000, 1);
	map_file(&scene, 42, 0x1000000, 0x1001000, 0, 1);
	scene_finish(&scene);
	CHECK_UINT(image_at(&scene, 1, 50, REST)->kind, IMAGE_ANON);
	CHECK_UINT(image_at(&scene, 1, 50, END + 0x1000)->kind, IMAGE_ANON);
	CHECK_UINT(image_at(&scene, 1, 50, 0x1001000)->kind, IMAGE_ANON);
	scene_leave(&scene);
}
