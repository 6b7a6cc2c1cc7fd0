// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// This program's own DWARF, saved as an index and asked beside it.
#include "dwarf/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dwarf/dwarf.h"
#include "harness/tap.h"

static const uint8_t id_bytes[20] = { 0xaa, 1, 2, 3 };

// This program, its DWARF, and the bytes of an index of it.
struct scene {
	struct elf_image *image;
	struct dwarf *dwarf;
	struct build_id id;
	uint8_t *bytes;
	size_t size;
	uint64_t code_start, code_end;
};

static bool take_code(struct scene *scene)
{
	const struct elf_section *text = elf_image_section_named(scene->image, ".text");
	if (!text)
		return false;
	scene->code_start = text->address;
	scene->code_end = text->address + text->size;
	return true;
}

static bool save(struct scene *scene, unsigned workers)
{
	_cleanup_close_ int fd = memfd_create("index", MFD_CLOEXEC);
	struct dwarf_saving to = { .id = scene->id, .fd = fd, .path = "index", .workers = workers };
	to.sources.debug.size = 77;
	to.sources.debug.hash[31] = 7;
	if (fd < 0 ||
	    !tap_check_ok(__FILE__, __LINE__, "save", dwarf_save_index(scene->dwarf, &to)))
		return false;
	scene->size = (size_t)lseek(fd, 0, SEEK_END);
	scene->bytes = malloc(scene->size);
	return scene->bytes && pread(fd, scene->bytes, scene->size, 0) == (ssize_t)scene->size;
}

// False (and the test skipped) when this program was built without DWARF.
static bool scene_open(struct scene *scene)
{
	struct debug_sections sections;
	*scene = (struct scene){ .id = build_id_of(id_bytes, sizeof id_bytes) };
	if (!tap_check_ok(__FILE__, __LINE__, "open",
			  elf_image_open("/proc/self/exe", &scene->image)))
		return false;
	if (!elf_image_has_dwarf(scene->image)) {
		tap_skip("built without -g");
		return false;
	}
	if (!tap_check_ok(__FILE__, __LINE__, "sections",
			  debug_sections_open(scene->image, &sections)) ||
	    !tap_check_ok(__FILE__, __LINE__, "dwarf",
			  dwarf_new(&sections, NULL, 0, UINT64_MAX, &scene->dwarf)))
		return false;
	return take_code(scene) && save(scene, 2);
}

static void scene_close(struct scene *scene)
{
	dwarf_free(scene->dwarf);
	elf_image_free(scene->image);
	free(scene->bytes);
}

// The index in SIZE bytes; NULL when it is refused.
static struct dwarf *open_bytes(const void *bytes, size_t size, const struct build_id *id,
				enum imp_error_code *code)
{
	struct dwarf *index = NULL;
	struct dwarf_sources sources;
	int fd = memfd_create("index", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	_cleanup_error_ struct imp_error *err = dwarf_open_index(fd, "index", id, &sources, &index);
	CHECK(!err == (index != NULL));
	if (err)
		*code = imp_error_code(err);
	return index;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_frames(const struct dwarf_frame *a, const struct dwarf_frame *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].line != b[i].line || a[i].column != b[i].column ||
		    a[i].is_inlined != b[i].is_inlined || !same_text(a[i].name, b[i].name) ||
		    !same_text(a[i].file, b[i].file))
			return false;
	return true;
}

TEST(an_index_tells_of_20000_addresses_what_dwarf_tells)
{
	enum { COUNT = 20000 };
	struct scene scene;
	enum imp_error_code code;
	struct dwarf *index = NULL;
	if (scene_open(&scene))
		index = open_bytes(scene.bytes, scene.size, &scene.id, &code);
	CHECK(!scene.bytes || (index && dwarf_is_index(index) && !dwarf_is_index(scene.dwarf)));
	size_t different = 0, found = 0, inlined = 0;
	// Some before and behind the code, too.
	uint64_t span = scene.code_end - scene.code_start + 2000;
	for (uint64_t i = 0; index && i < COUNT; i++) {
		struct dwarf_frame a[DWARF_MOST_FRAMES], b[DWARF_MOST_FRAMES];
		uint32_t a_count, b_count;
		elf_addr address = elf_addr_of(scene.code_start - 1000 + span * i / COUNT);
		CHECK_OK(dwarf_find(scene.dwarf, address, a, &a_count));
		CHECK_OK(dwarf_find(index, address, b, &b_count));
		different += a_count != b_count || !same_frames(a, b, a_count);
		found += a_count > 0;
		inlined += a_count > 1;
	}
	CHECK_UINT(different, 0);
	// A sanitizer's own code, a good part of the program then, has no DWARF.
	CHECK(!index || (found > COUNT / 20 && inlined > 0));
	dwarf_free(index);
	scene_close(&scene);
}

TEST(the_same_build_makes_the_same_index_whatever_was_asked_before_and_however_many_work)
{
	struct scene scene;
	if (scene_open(&scene)) {
		uint8_t *first = scene.bytes;
		size_t size = scene.size;
		struct dwarf_frame frames[DWARF_MOST_FRAMES];
		uint32_t count;
		CHECK_OK(dwarf_find(scene.dwarf, elf_addr_of(scene.code_start + 99), frames,
				    &count));
		CHECK(save(&scene, 1));
		CHECK(scene.size == size && memcmp(scene.bytes, first, size) == 0);
		free(first);
	}
	scene_close(&scene);
}

TEST(an_index_of_another_build_or_version_is_refused)
{
	struct scene scene;
	enum imp_error_code code = 0;
	if (scene_open(&scene)) {
		struct build_id other = build_id_of(id_bytes, 19);
		CHECK(!open_bytes(scene.bytes, scene.size, &other, &code));
		CHECK_UINT(code, IMP_ERR_MISMATCH);
		scene.bytes[8] ^= 0x40;
		CHECK(!open_bytes(scene.bytes, scene.size, &scene.id, &code));
		CHECK_UINT(code, IMP_ERR_UNSUPPORTED);
	}
	scene_close(&scene);
}

TEST(every_cut_index_is_refused)
{
	struct scene scene;
	enum imp_error_code code;
	if (scene_open(&scene)) {
		size_t step = scene.size / 500 + 1;
		for (size_t size = 0; size < scene.size; size += size < 300 ? 1 : step) {
			code = 0;
			CHECK(!open_bytes(scene.bytes, size, &scene.id, &code));
			CHECK_UINT(code, IMP_ERR_BAD_DATA);
		}
		CHECK(!open_bytes(scene.bytes, scene.size - 1, &scene.id, &code));
	}
	scene_close(&scene);
}

// The index in the scene's bytes, or one of its units, is refused.
static bool is_refused(const struct scene *scene)
{
	struct index_file *index = NULL;
	struct dwarf_sources sources;
	int fd = memfd_create("index", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, scene->bytes, scene->size) == (ssize_t)scene->size);
	struct imp_error *err = index_open(fd, "index", &scene->id, &sources, &index);
	for (size_t i = 0; !err && i < index_unit_count(index); i++) {
		struct unit_tables *tables = NULL;
		err = index_tables(index, i, &tables);
		unit_tables_free(tables);
	}
	bool refused = err;
	imp_error_free(err);
	index_free(index);
	return refused;
}

TEST(every_changed_byte_is_noticed)
{
	struct scene scene;
	if (scene_open(&scene)) {
		size_t step = scene.size / 300 + 1, unnoticed = 0, tried = 0;
		for (size_t at = 0; at < scene.size; at += at < 272 ? 7 : step) {
			scene.bytes[at] ^= 0x10;
			unnoticed += !is_refused(&scene);
			tried++;
			scene.bytes[at] ^= 0x10;
		}
		CHECK(tried > 200);
		CHECK_UINT(unnoticed, 0);
	}
	scene_close(&scene);
}
