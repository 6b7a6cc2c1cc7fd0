// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "symbolize/symbolizer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "harness/tap.h"
#include "make/elf.h"

static const uint8_t id_a[20] = { 0xaa, 1 }, id_b[20] = { 0xbb, 2 };

// A directory with one library in it, and what is needed to name its places.
struct scene {
	char *dir;
	char path[256];
	struct finder *finder;
	struct symbolizer *symbolizer;
};

static bool scene_open(struct scene *scene, const uint8_t *id, const char *prefix)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	*scene = (struct scene){ .dir = make_directory() };
	snprintf(scene->path, sizeof scene->path, "%s/lib.so", scene->dir);
	make_library(id, id ? 20 : 0, prefix, &file);
	make_file(scene->path, file.bytes, file.size);
	struct finder_options finding = { .image_dirs = NULL };
	struct symbolizer_options options = { .map_dir = scene->dir };
	return tap_check_ok(__FILE__, __LINE__, "finder", finder_new(&finding, &scene->finder)) &&
	       tap_check_ok(__FILE__, __LINE__, "symbolizer",
			    symbolizer_new(scene->finder, &options, &scene->symbolizer));
}

static void scene_close(struct scene *scene)
{
	symbolizer_free(scene->symbolizer);
	finder_free(scene->finder);
	make_directory_free(scene->dir);
}

static struct image library(const struct scene *scene, const uint8_t *id)
{
	return (struct image){ .kind = IMAGE_USER,
			       .identity = IDENTITY_MAP_TIME,
			       .id = build_id_of(id, 20),
			       .path = scene->path };
}

static struct frames name(struct scene *scene, const struct image *image, uint64_t offset,
			  bool is_return)
{
	struct frames frames = { 0 };
	CHECK_OK(symbolize(scene->symbolizer, image, file_off_of(offset), is_return, &frames));
	return frames;
}

TEST(names_a_function_and_how_far_into_it)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, "a_"));
	struct image image = library(&scene, id_a);
	struct frames frames = name(&scene, &image, 0x1012, false);
	CHECK_UINT(frames.count, 1);
	if (frames.count == 1) {
		CHECK_TEXT(frames.items[0].function, "a_second");
		CHECK_UINT(frames.items[0].offset, 2);
		CHECK(!frames.items[0].file && !frames.items[0].linkage_name);
	}
	CHECK(frames.has_address);
	CHECK_UINT(frames.address.value, 0x2012);
	scene_close(&scene);
}

TEST(a_return_address_is_looked_up_where_the_call_is)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	struct image image = library(&scene, id_a);
	// The first byte of the second function: a call that does not return ended the first.
	struct frames frames = name(&scene, &image, 0x1010, true);
	CHECK_UINT(frames.count, 1);
	if (frames.count == 1) {
		CHECK_TEXT(frames.items[0].function, "first");
		CHECK_UINT(frames.items[0].offset, 16);
	}
	CHECK_UINT(frames.address.value, 0x2010);
	frames = name(&scene, &image, 0x1010, false);
	CHECK_TEXT(frames.count ? frames.items[0].function : NULL, "second");
	scene_close(&scene);
}

TEST(demangles_and_keeps_the_linkage_name)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, "_Z5"));
	struct image image = library(&scene, id_a);
	// "_Z5second" is five letters and the code of a type.
	struct frames frames = name(&scene, &image, 0x1000, false);
	CHECK_UINT(frames.count, 1);
	if (frames.count == 1) {
		CHECK_TEXT(frames.items[0].function, "first");
		CHECK_TEXT(frames.items[0].linkage_name, "_Z5first");
	}
	frames = name(&scene, &image, 0x1010, false);
	CHECK_TEXT(frames.count ? frames.items[0].function : NULL, "secon(double)");
	scene_close(&scene);
}

TEST(what_strip_took_away_is_told_from_what_no_symbol_covers)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	_cleanup_buffer_ struct buffer file = { 0 };
	make_stripped_library(id_a, 20, "", &file);
	make_file(scene.path, file.bytes, file.size);
	struct image image = library(&scene, id_a);
	struct frames frames = name(&scene, &image, 0x1000, false);
	CHECK_TEXT(frames.count ? frames.items[0].function : NULL, "first");
	CHECK_TEXT(unknown_reason_name(name(&scene, &image, 0x1020, false).unknown), "stripped");
	scene_close(&scene);
}

TEST(every_unknown_has_its_reason)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	struct image image = library(&scene, id_a);
	CHECK_TEXT(unknown_reason_name(name(&scene, &image, 0x1020, false).unknown),
		   "no-symbol-at-address");
	CHECK_TEXT(unknown_reason_name(name(&scene, &image, 0x7fffffff, false).unknown),
		   "outside-image");
	struct image other = library(&scene, id_b);
	CHECK_TEXT(unknown_reason_name(name(&scene, &other, 0x1000, false).unknown), "other-build");
	struct image nobody = other;
	nobody.path = "/nonexistent/lib.so";
	CHECK_TEXT(unknown_reason_name(name(&scene, &nobody, 0x1000, false).unknown),
		   "image-not-found");
	struct image anonymous = { .kind = IMAGE_ANON, .path = "//anon", .pid = 77 };
	CHECK_TEXT(unknown_reason_name(name(&scene, &anonymous, 0x1000, false).unknown),
		   "anonymous");
	struct frames frames = name(&scene, &other, 0x1000, false);
	CHECK(frames.count == 0 && !frames.has_address);
	scene_close(&scene);
}

TEST(names_generated_code_by_its_processs_map)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	char path[300];
	static const char map[] = "7f0000 100 Lmain;->run [baseline]\n";
	snprintf(path, sizeof path, "%s/perf-77.map", scene.dir);
	make_file(path, map, sizeof map - 1);
	struct image image = { .kind = IMAGE_ANON, .path = "//anon", .pid = 77 };
	struct frames frames = name(&scene, &image, 0x7f0010, false);
	CHECK_UINT(frames.count, 1);
	if (frames.count == 1) {
		CHECK_TEXT(frames.items[0].function, "Lmain;->run [baseline]");
		CHECK_UINT(frames.items[0].offset, 0x10);
	}
	image.pid = 78;
	CHECK_UINT(name(&scene, &image, 0x7f0010, false).count, 0);
	scene_close(&scene);
}

TEST(a_process_that_still_runs_has_its_map_in_its_own_root)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	char path[64];
	static const char map[] = "7e0000 100 own_function\n";
	uint32_t pid = (uint32_t)getpid();
	snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
	make_file(path, map, sizeof map - 1);
	struct image image = { .kind = IMAGE_ANON, .path = "//anon", .pid = pid };
	// The scene's directory of maps has none.
	REQUIRE_OK(finder_add_survivor(scene.finder, pid, 1));
	CHECK(name(&scene, &image, 0x7e0010, false).count == 0);
	REQUIRE_OK(finder_add_process(scene.finder, pid));
	image.path = "//anon, asked again";
	struct frames frames = name(&scene, &image, 0x7e0010, false);
	CHECK(frames.count == 1);
	if (frames.count == 1)
		CHECK_TEXT(frames.items[0].function, "own_function");
	unlink(path);
	scene_close(&scene);
}

TEST(what_the_kernel_told_of_by_name_has_that_name)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	struct image image = { .kind = IMAGE_JIT,
			       .identity = IDENTITY_NONE,
			       .path = "bpf_prog_6deef7357e7b4530_sys_enter" };
	struct frames frames = name(&scene, &image, 0xffffffffc0001234, false);
	CHECK_UINT(frames.count, 1);
	CHECK_TEXT(frames.count ? frames.items[0].function : NULL,
		   "bpf_prog_6deef7357e7b4530_sys_enter");
	scene_close(&scene);
}

static struct imp_error *ask_many(void *arg, unsigned worker, size_t piece)
{
	struct scene *scene = arg;
	struct image image = library(scene, piece & 1 ? id_a : id_b);
	(void)worker;
	for (uint64_t offset = 0x1000; offset < 0x1020; offset++) {
		struct frames frames;
		struct imp_error *err =
			symbolize(scene->symbolizer, &image, file_off_of(offset), false, &frames);
		if (err)
			return err;
		CHECK_UINT(frames.count, piece & 1);
	}
	return NULL;
}

TEST(many_threads_ask_for_the_same)
{
	struct scene scene;
	REQUIRE(scene_open(&scene, id_a, ""));
	CHECK_OK(parallel_run(4, 64, ask_many, &scene));
	struct image image = library(&scene, id_a);
	struct frames once = name(&scene, &image, 0x1004, false);
	struct frames again = name(&scene, &image, 0x1004, false);
	CHECK(once.items == again.items);
	scene_close(&scene);
}
