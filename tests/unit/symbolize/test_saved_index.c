// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A copy of this program, named with and without an index in a store.
#include "symbolize/saved_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "harness/tap.h"
#include "make/elf.h"
#include "symbolize/symbolizer.h"

struct scene {
	char *dir;
	char path[256], store_dir[256];
	struct store *store;
	struct image image;
	uint64_t code_start, code_end;
};

static bool copy_self(const struct scene *scene)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	if (!tap_check_ok(__FILE__, __LINE__, "read",
			  file_slurp_path("/proc/self/exe", (size_t)1 << 30, &bytes)))
		return false;
	make_file(scene->path, bytes.bytes, bytes.size);
	// Else its times would say nothing yet.
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	return utimensat(AT_FDCWD, scene->path, old, 0) == 0;
}

static bool look_at_copy(struct scene *scene)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	if (!tap_check_ok(__FILE__, __LINE__, "open", elf_image_open(scene->path, &image)))
		return false;
	const struct elf_section *text = elf_image_section_named(image, ".text");
	if (!text || !elf_image_has_dwarf(image) || build_id_is_none(elf_image_id(image))) {
		tap_skip("built without -g or without a build ID");
		return false;
	}
	scene->image = (struct image){ .kind = IMAGE_USER,
				       .identity = IDENTITY_MAP_TIME,
				       .id = *elf_image_id(image),
				       .path = scene->path };
	scene->code_start = text->address;
	scene->code_end = text->address + text->size;
	return true;
}

static bool scene_open(struct scene *scene)
{
	*scene = (struct scene){ .dir = make_directory() };
	snprintf(scene->path, sizeof scene->path, "%s/program", scene->dir);
	snprintf(scene->store_dir, sizeof scene->store_dir, "%s/store", scene->dir);
	return copy_self(scene) && look_at_copy(scene) &&
	       tap_check_ok(__FILE__, __LINE__, "store",
			    store_open(scene->store_dir, STORE_WRITE, NULL, &scene->store));
}

static void scene_close(struct scene *scene)
{
	store_free(scene->store);
	make_directory_free(scene->dir);
}

static size_t count_indexes(const struct scene *scene)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct store_query query = { .id = scene->image.id, .role = STORE_INDEX };
	CHECK_OK(store_find(scene->store, &query, &objects));
	return objects.count;
}

// There is an index of the program as it is now.
static bool has_index(const struct scene *scene)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct dwarf *index = NULL;
	CHECK_OK(elf_image_open(scene->path, &image));
	const struct index_files files = { .debug = image };
	CHECK_OK(saved_index_find(scene->store, &files, NULL, &index));
	bool found = index && dwarf_is_index(index);
	dwarf_free(index);
	return found;
}

static void put_frames(const struct frames *frames, struct buffer *ret)
{
	for (uint32_t i = 0; i < frames->count; i++) {
		const struct frame *frame = &frames->items[i];
		buffer_format(ret, "%s %s:%u:%u %d\n", frame->function ? frame->function : "?",
			      frame->file ? frame->file : "?", frame->line, frame->column,
			      frame->is_inlined);
	}
}

// What is told of COUNT addresses, with the indexes of INDEX_DIR. Keeps one afterwards.
static struct buffer name_all(const struct scene *scene, const char *index_dir, unsigned count)
{
	struct buffer text = { 0 };
	struct finder *finder = NULL;
	struct symbolizer *symbolizer = NULL;
	struct finder_options finding = { .image_dirs = NULL };
	struct symbolizer_options options = { .index_dir = index_dir };
	CHECK_OK(finder_new(&finding, &finder));
	CHECK_OK(symbolizer_new(finder, &options, &symbolizer));
	uint64_t size = scene->code_end - scene->code_start;
	for (unsigned i = 0; i < count; i++) {
		struct frames frames;
		elf_addr at = elf_addr_of(scene->code_start + size * i / count);
		CHECK_OK(symbolize_address(symbolizer, &scene->image, at, false, &frames));
		put_frames(&frames, &text);
	}
	CHECK_OK(symbolizer_save_indexes(symbolizer, 1));
	symbolizer_free(symbolizer);
	finder_free(finder);
	return text;
}

static bool same_bytes(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

TEST(what_an_index_names_is_what_the_file_names)
{
	struct scene scene;
	if (scene_open(&scene)) {
		_cleanup_buffer_ struct buffer without = name_all(&scene, NULL, 20000);
		CHECK_UINT(count_indexes(&scene), 0);
		_cleanup_buffer_ struct buffer making = name_all(&scene, scene.store_dir, 20000);
		CHECK_UINT(count_indexes(&scene), 1);
		CHECK(has_index(&scene));
		_cleanup_buffer_ struct buffer with = name_all(&scene, scene.store_dir, 20000);
		CHECK_UINT(count_indexes(&scene), 1);
		CHECK(without.size > 20000 && same_bytes(&without, &making));
		CHECK(same_bytes(&without, &with));
	}
	scene_close(&scene);
}

TEST(nothing_is_kept_of_what_was_hardly_read_or_where_there_is_no_store)
{
	struct scene scene;
	if (scene_open(&scene)) {
		_cleanup_buffer_ struct buffer little = name_all(&scene, scene.store_dir, 1);
		CHECK(little.size);
		CHECK_UINT(count_indexes(&scene), 0);
		char nowhere[300];
		snprintf(nowhere, sizeof nowhere, "%s/nowhere", scene.dir);
		_cleanup_buffer_ struct buffer all = name_all(&scene, nowhere, 2000);
		CHECK(all.size);
		CHECK(access(nowhere, F_OK) != 0);
	}
	scene_close(&scene);
}

TEST(a_copy_of_the_file_has_the_index_and_another_content_of_the_same_build_has_not)
{
	struct scene scene;
	if (scene_open(&scene)) {
		_cleanup_buffer_ struct buffer first = name_all(&scene, scene.store_dir, 2000);
		CHECK(first.size);
		char original[sizeof scene.path];
		memcpy(original, scene.path, sizeof original);
		snprintf(scene.path, sizeof scene.path, "%s/copy", scene.dir);
		CHECK(copy_self(&scene) && has_index(&scene));
		// The last byte of the file is of the section headers: the build ID stays.
		int fd = open(scene.path, O_WRONLY | O_CLOEXEC);
		struct stat stat;
		CHECK(fd >= 0 && fstat(fd, &stat) == 0);
		CHECK(pwrite(fd, "\1", 1, stat.st_size - 1) == 1);
		CHECK(fd >= 0 && close(fd) == 0);
		CHECK(!has_index(&scene));
		memcpy(scene.path, original, sizeof original);
		CHECK(has_index(&scene));
	}
	scene_close(&scene);
}

// Changes every hundredth byte of the only index.
static void damage_index(const struct scene *scene)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct store_query query = { .id = scene->image.id, .role = STORE_INDEX };
	CHECK_OK(store_find(scene->store, &query, &objects));
	_cleanup_free_ char *path =
		objects.count ? store_object_path(scene->store, &objects.items[0]) : NULL;
	CHECK(path && chmod(path, 0600) == 0);
	_cleanup_close_ int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat stat = { .st_size = 0 };
	CHECK(fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 1000);
	for (off_t at = 300; fd >= 0 && at < stat.st_size; at += 100) {
		uint8_t byte;
		CHECK(pread(fd, &byte, 1, at) == 1);
		byte ^= 0x10;
		CHECK(pwrite(fd, &byte, 1, at) == 1);
	}
}

TEST(a_damaged_index_is_as_good_as_none)
{
	struct scene scene;
	if (scene_open(&scene)) {
		_cleanup_buffer_ struct buffer right = name_all(&scene, scene.store_dir, 2000);
		CHECK_UINT(count_indexes(&scene), 1);
		damage_index(&scene);
		CHECK(!has_index(&scene));
		_cleanup_buffer_ struct buffer still = name_all(&scene, scene.store_dir, 2000);
		CHECK(same_bytes(&right, &still));
		// It was made anew.
		CHECK(has_index(&scene));
	}
	scene_close(&scene);
}
