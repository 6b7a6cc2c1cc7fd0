// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/known_ids.h"

#include <string.h>

#include "harness/tap.h"

struct scene {
	char dir[64];
	char path[128];
};

static struct scene scene_begin(void)
{
	struct scene scene = { .dir = "/tmp/imprint-known-XXXXXX" };
	if (!mkdtemp(scene.dir))
		abort();
	snprintf(scene.path, sizeof scene.path, "%s/a/b/ids", scene.dir);
	return scene;
}

static void scene_end(struct scene *scene)
{
	char command[128];
	snprintf(command, sizeof command, "rm -r '%s'", scene->dir);
	CHECK(!system(command));
}

static struct stat file_of(uint64_t inode)
{
	return (struct stat){ .st_dev = 5,
			      .st_ino = inode,
			      .st_size = 70,
			      .st_mtim = { 1000, 1 },
			      .st_ctim = { 1000, 2 } };
}

static void keep(const struct scene *scene, const struct stat *file, const char *hex)
{
	struct build_id id;
	CHECK(build_id_parse(hex, &id));
	_cleanup_known_ids_ struct known_ids ids;
	known_ids_load(&ids, scene->path);
	known_ids_add(&ids, file, &id);
	known_ids_save(&ids);
}

// What the file at PATH knows of FILE; "" for nothing.
static struct build_id_text known(const struct scene *scene, const struct stat *file)
{
	_cleanup_known_ids_ struct known_ids ids;
	known_ids_load(&ids, scene->path);
	struct build_id id = { 0 };
	if (!known_ids_find(&ids, file, &id))
		return (struct build_id_text){ "" };
	return build_id_text(&id);
}

TEST(an_id_is_known_of_the_same_file_only)
{
	struct scene scene = scene_begin();
	struct stat file = file_of(7), other = file_of(71);
	CHECK_TEXT(known(&scene, &file).text, "");
	keep(&scene, &file, "aabb01");
	keep(&scene, &other, "ccdd02");
	CHECK_TEXT(known(&scene, &file).text, "aabb01");
	CHECK_TEXT(known(&scene, &other).text, "ccdd02");
	struct stat changed[] = { file, file, file, file, file, file };
	changed[0].st_dev++;
	changed[1].st_ino++;
	changed[2].st_size++;
	changed[3].st_mtim.tv_nsec++;
	changed[4].st_ctim.tv_nsec++;
	changed[5].st_ctim.tv_sec++;
	for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
		CHECK_TEXT(known(&scene, &changed[i]).text, "");
	scene_end(&scene);
}

TEST(a_file_that_changed_just_now_is_not_kept)
{
	struct scene scene = scene_begin();
	struct stat file;
	REQUIRE(!stat(scene.dir, &file));
	keep(&scene, &file, "aabb01");
	CHECK_TEXT(known(&scene, &file).text, "");
	scene_end(&scene);
}

TEST(what_others_could_have_written_is_not_believed)
{
	struct scene scene = scene_begin();
	struct stat file = file_of(7);
	keep(&scene, &file, "aabb01");
	CHECK(!chmod(scene.path, 0620));
	CHECK_TEXT(known(&scene, &file).text, "");
	CHECK(!chmod(scene.path, 0644));
	CHECK_TEXT(known(&scene, &file).text, "aabb01");
	char other[160];
	snprintf(other, sizeof other, "%s.moved", scene.path);
	CHECK(!rename(scene.path, other) && !symlink(other, scene.path));
	CHECK_TEXT(known(&scene, &file).text, "");
	scene_end(&scene);
}

TEST(what_is_cut_off_or_of_another_form_is_nothing)
{
	struct scene scene = scene_begin();
	struct stat file = file_of(7);
	keep(&scene, &file, "aabb01");
	struct stat whole;
	REQUIRE(!stat(scene.path, &whole));
	while (whole.st_size-- > 0) {
		CHECK(!truncate(scene.path, whole.st_size));
		CHECK_TEXT(known(&scene, &file).text, "");
	}
	keep(&scene, &file, "ccdd02");
	CHECK_TEXT(known(&scene, &file).text, "ccdd02");
	scene_end(&scene);
}

TEST(the_oldest_are_forgotten)
{
	struct scene scene = scene_begin();
	struct build_id id;
	REQUIRE(build_id_parse("aabb01", &id));
	for (uint64_t part = 0; part < 5; part++) {
		_cleanup_known_ids_ struct known_ids ids;
		known_ids_load(&ids, scene.path);
		for (uint64_t i = 0; i < 1000; i++) {
			struct stat file = file_of(part * 1000 + i);
			known_ids_add(&ids, &file, &id);
		}
		known_ids_save(&ids);
	}
	struct stat first = file_of(0), last = file_of(4999), written;
	CHECK_TEXT(known(&scene, &first).text, "");
	CHECK_TEXT(known(&scene, &last).text, "aabb01");
	CHECK(!stat(scene.path, &written) && written.st_size < 200 * 1024);
	scene_end(&scene);
}

TEST(without_a_place_nothing_is_kept)
{
	_cleanup_known_ids_ struct known_ids ids;
	struct stat file = file_of(7);
	struct build_id id;
	REQUIRE(build_id_parse("aabb01", &id));
	known_ids_load(&ids, NULL);
	known_ids_add(&ids, &file, &id);
	known_ids_save(&ids);
	CHECK(!known_ids_find(&ids, &file, &id));
	known_ids_load(&ids, "/proc/none/ids");
	known_ids_add(&ids, &file, &id);
	known_ids_save(&ids);
}
