// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/tiny_library.h"

static struct raw_mapping only_line(const char *text)
{
	struct raw_mapping raw = { 0 };
	const char *at = text;
	CHECK(maps_next_line(&at, text + strlen(text), &raw));
	CHECK(*at == 0);
	return raw;
}

static void check_name(const struct raw_mapping *raw, const char *name)
{
	CHECK_UINT(raw->name_length, strlen(name));
	CHECK(!strncmp(raw->name, name, raw->name_length));
}

TEST(reads_a_line_with_a_path_of_spaces)
{
	struct raw_mapping raw = only_line("7f0000001000-7f0000003000 r-xs 00002000 fd:0a 1234567 "
					   "                   /a b/ c (deleted) \n");
	CHECK_UINT(raw.mapping.start, 0x7f0000001000);
	CHECK_UINT(raw.mapping.end, 0x7f0000003000);
	CHECK_UINT(raw.mapping.offset, 0x2000);
	CHECK_UINT(raw.major, 0xfd);
	CHECK_UINT(raw.minor, 0x0a);
	CHECK_UINT(raw.inode, 1234567);
	CHECK_UINT(raw.mapping.protection, PROT_READ | PROT_EXEC);
	CHECK(raw.mapping.is_shared);
	check_name(&raw, "/a b/ c (deleted) ");
}

TEST(reads_a_line_without_a_name)
{
	struct raw_mapping raw = only_line("00400000-00401000 rwxp 00000000 00:00 0 \n");
	CHECK_UINT(raw.mapping.protection, PROT_READ | PROT_WRITE | PROT_EXEC);
	check_name(&raw, "");
	raw = only_line("00400000-00401000 ---p 00000000 00:00 0");
	CHECK_UINT(raw.mapping.protection, 0);
	check_name(&raw, "");
}

TEST(skips_lines_that_are_none)
{
	const char *text = "Size: 4 kB\n-\n00401000-00400000 r-xp 0 00:00 0\n"
			   "ffffffffffffffff0-1 r-xp 0 00:00 0\n"
			   "00400000-00401000 r-xp 00000000 08:01 5 /bin/x\nVmFlags: rd ex\n";
	const char *at = text;
	struct raw_mapping raw;
	CHECK(maps_next_line(&at, text + strlen(text), &raw));
	check_name(&raw, "/bin/x");
	CHECK(!maps_next_line(&at, text + strlen(text), &raw));
}

TEST(survives_every_truncation_of_a_line)
{
	const char *line = "7f0000001000-7f0000003000 r-xs 00002000 fd:0a 1234567 /lib/libz.so";
	for (size_t size = 0; size < strlen(line); size++) {
		char *cut = strndup(line, size);
		const char *at = cut;
		struct raw_mapping raw;
		bool is_line = maps_next_line(&at, cut + size, &raw);
		CHECK(is_line == (size > strlen("7f0000001000-7f0000003000 r-xs 00002000 fd:0a")));
		free(cut);
	}
}

// A temporary directory with its mappings in this very process.
struct scene {
	char dir[64];
	char path[128];
	struct proc *proc;
	struct mapped_files *files;
	struct mappings mappings;
};

static struct scene scene_begin(const char *name)
{
	struct scene scene = { .dir = "/tmp/imprint-maps-XXXXXX" };
	if (!mkdtemp(scene.dir))
		abort();
	snprintf(scene.path, sizeof scene.path, "%s/%s", scene.dir, name);
	CHECK_OK(proc_open(NULL, &scene.proc));
	CHECK_OK(mapped_files_new(0, &scene.files));
	return scene;
}

static void scene_end(struct scene *scene)
{
	unlink(scene->path);
	rmdir(scene->dir);
	proc_free(scene->proc);
	mapped_files_free(scene->files);
	mappings_fini(&scene->mappings);
}

static void *map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, TINY_LIBRARY_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at;
}

// Reads this process and gives the file mapped at AT.
static struct mapped_file look(struct scene *scene, bool text, const void *at)
{
	struct maps_options options = { .text = text };
	enum proc_outcome outcome;
	scene->mappings.count = 0;
	CHECK_OK(maps_read(scene->proc, (uint32_t)getpid(), &options, scene->files,
			   &scene->mappings, &outcome));
	CHECK(outcome == PROC_READ);
	for (size_t i = 0; i < scene->mappings.count; i++) {
		const struct mapping *mapping = &scene->mappings.items[i];
		if (mapping->start == (uintptr_t)at)
			return *mapped_files_at(scene->files, mapping->file);
	}
	return (struct mapped_file){ .path = "not found" };
}

static const struct tiny_library old_build = { .id_size = 20, .id = 0x11 };
static const struct tiny_library new_build = { .id_size = 20, .id = 0x22 };
#define OLD_ID "1111111111111111111111111111111111111111"

static void check_both_ways(struct scene *scene, const void *at, const char *path, bool is_deleted,
			    const char *id)
{
	for (unsigned text = 0; text < 2; text++) {
		mapped_files_free(scene->files);
		scene->files = NULL;
		CHECK_OK(mapped_files_new(0, &scene->files));
		struct mapped_file file = look(scene, text, at);
		CHECK(file.kind == MAPPED_FILE);
		CHECK_TEXT(file.path, path);
		CHECK(file.is_deleted == is_deleted);
		CHECK_TEXT(build_id_text(&file.id).text, id);
	}
}

TEST(a_mapped_file_has_its_id)
{
	struct scene scene = scene_begin("lib x.so");
	tiny_library_write(&old_build, scene.path);
	void *at = map_file(scene.path);
	check_both_ways(&scene, at, scene.path, false, OLD_ID);
	munmap(at, TINY_LIBRARY_SIZE);
	scene_end(&scene);
}

TEST(a_replaced_file_keeps_the_id_that_was_mapped)
{
	struct scene scene = scene_begin("libx.so");
	tiny_library_write(&old_build, scene.path);
	void *at = map_file(scene.path);
	tiny_library_write(&new_build, scene.path);
	check_both_ways(&scene, at, scene.path, true, OLD_ID);
	munmap(at, TINY_LIBRARY_SIZE);
	scene_end(&scene);
}

TEST(a_file_may_really_be_named_deleted)
{
	struct scene scene = scene_begin("libx.so (deleted)");
	tiny_library_write(&old_build, scene.path);
	void *at = map_file(scene.path);
	check_both_ways(&scene, at, scene.path, false, OLD_ID);
	unlink(scene.path);
	mapped_files_free(scene.files);
	CHECK_OK(mapped_files_new(0, &scene.files));
	check_both_ways(&scene, at, scene.path, true, OLD_ID);
	munmap(at, TINY_LIBRARY_SIZE);
	scene_end(&scene);
}

TEST(a_newline_and_a_backslash_are_told_apart)
{
	static const char *const names[] = { "a\nb.so", "a\\012b.so" };
	for (size_t i = 0; i < 2; i++) {
		struct scene scene = scene_begin(names[i]);
		tiny_library_write(&old_build, scene.path);
		void *at = map_file(scene.path);
		check_both_ways(&scene, at, scene.path, false, OLD_ID);
		munmap(at, TINY_LIBRARY_SIZE);
		scene_end(&scene);
	}
}

TEST(an_id_that_the_kernel_does_not_tell_is_read)
{
	// The kernel knows IDs of at most 20 bytes.
	struct scene scene = scene_begin("libx.so");
	tiny_library_write(&(struct tiny_library){ .id_size = 32, .id = 0x33 }, scene.path);
	void *at = map_file(scene.path);
	check_both_ways(&scene, at, scene.path, false,
			"3333333333333333333333333333333333333333333333333333333333333333");
	munmap(at, TINY_LIBRARY_SIZE);
	scene_end(&scene);
}

TEST(a_file_without_an_id_is_known_to_have_none)
{
	struct scene scene = scene_begin("libx.so");
	tiny_library_write(&(struct tiny_library){ 0 }, scene.path);
	void *at = map_file(scene.path);
	for (unsigned text = 0; text < 2; text++) {
		struct mapped_file file = look(&scene, text, at);
		CHECK(build_id_is_none(&file.id) && file.id_is_known);
	}
	munmap(at, TINY_LIBRARY_SIZE);
	scene_end(&scene);
}

TEST(a_memfd_is_named_and_has_its_id)
{
	struct scene scene = scene_begin("none");
	uint8_t bytes[TINY_LIBRARY_SIZE];
	tiny_library_make(&old_build, bytes);
	int fd = memfd_create("jit code", MFD_CLOEXEC);
	CHECK(write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes);
	void *at = mmap(NULL, sizeof bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	for (unsigned text = 0; text < 2; text++) {
		mapped_files_free(scene.files);
		scene.files = NULL;
		CHECK_OK(mapped_files_new(0, &scene.files));
		struct mapped_file file = look(&scene, text, at);
		CHECK(file.kind == MAPPED_MEMFD);
		CHECK_TEXT(file.path, "jit code");
		CHECK_TEXT(build_id_text(&file.id).text, OLD_ID);
	}
	munmap(at, sizeof bytes);
	scene_end(&scene);
}

TEST(anonymous_code_and_the_vdso_are_named_as_such)
{
	struct scene scene = scene_begin("none");
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned text = 0; text < 2; text++) {
		struct mapped_file file = look(&scene, text, at);
		CHECK(file.kind == MAPPED_ANON);
		CHECK_TEXT(file.path, "");
		bool has_vdso = false;
		for (size_t i = 0; i < scene.mappings.count; i++) {
			file = *mapped_files_at(scene.files, scene.mappings.items[i].file);
			if (file.kind != MAPPED_VDSO)
				continue;
			has_vdso = true;
			CHECK(file.id.size == 20);
		}
		CHECK(has_vdso);
	}
	munmap(at, 4096);
	scene_end(&scene);
}

TEST(both_ways_see_the_same_mappings)
{
	struct scene scene = scene_begin("none");
	struct maps_options options = { .all = true };
	struct mappings text = { 0 };
	enum proc_outcome outcome;
	// Reading must not change what is read: a child that only waits is looked at.
	pid_t child = fork();
	if (!child)
		for (;;)
			pause();
	CHECK_OK(maps_read(scene.proc, (uint32_t)child, &options, scene.files, &scene.mappings,
			   &outcome));
	options.text = true;
	CHECK_OK(maps_read(scene.proc, (uint32_t)child, &options, scene.files, &text, &outcome));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	REQUIRE(text.count == scene.mappings.count);
	for (size_t i = 0; i < text.count; i++) {
		const struct mapping *mapping = &text.items[i];
		const struct mapping *other = &scene.mappings.items[i];
		CHECK_UINT(other->start, mapping->start);
		CHECK_UINT(other->offset, mapping->offset);
		CHECK_UINT(other->protection, mapping->protection);
		CHECK_TEXT(mapped_files_at(scene.files, other->file)->path,
			   mapped_files_at(scene.files, mapping->file)->path);
	}
	mappings_fini(&text);
	scene_end(&scene);
}

TEST(a_foreign_tree_is_read_as_text)
{
	struct scene scene = scene_begin("1");
	CHECK(!mkdir(scene.path, 0755));
	char maps[160];
	snprintf(maps, sizeof maps, "%s/maps", scene.path);
	FILE *out = fopen(maps, "w");
	fputs("00400000-00401000 r-xp 00000000 fe:01 42 /bin/x\n", out);
	fclose(out);
	proc_free(scene.proc);
	CHECK_OK(proc_open(scene.dir, &scene.proc));
	enum proc_outcome outcome;
	CHECK_OK(maps_read(scene.proc, 1, NULL, scene.files, &scene.mappings, &outcome));
	CHECK(outcome == PROC_READ);
	REQUIRE(scene.mappings.count == 1);
	const struct mapped_file *file = mapped_files_at(scene.files, 0);
	CHECK_TEXT(file->path, "/bin/x");
	CHECK(!file->id_is_known && build_id_is_none(&file->id));
	CHECK_OK(maps_read(scene.proc, 2, NULL, scene.files, &scene.mappings, &outcome));
	CHECK(outcome == PROC_GONE);
	unlink(maps);
	rmdir(scene.path);
	scene_end(&scene);
}

// Writes MAPS of process PID of the fake tree at DIR, whose root is the directory ROOT.
static void write_process(const char *dir, unsigned pid, const char *root, const char *text)
{
	char path[160];
	snprintf(path, sizeof path, "%s/%u", dir, pid);
	CHECK(!mkdir(path, 0755));
	snprintf(path, sizeof path, "%s/%u/root", dir, pid);
	CHECK(!symlink(root, path));
	snprintf(path, sizeof path, "%s/%u/maps", dir, pid);
	FILE *out = fopen(path, "w");
	fputs(text, out);
	fclose(out);
}

static void remove_process(const char *dir, unsigned pid)
{
	static const char *const names[] = { "/root", "/maps", "" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[160];
		snprintf(path, sizeof path, "%s/%u%s", dir, pid, names[i]);
		remove(path);
	}
}

TEST(a_file_is_another_by_device_inode_path_or_root)
{
	struct scene scene = scene_begin("none");
	write_process(scene.dir, 1, "/tmp",
		      "00400000-00401000 r-xp 00000000 fe:01 42 /bin/x\n"
		      "00500000-00501000 r-xp 00000000 00:2a 42 /bin/x\n"
		      "00600000-00601000 r-xp 00000000 fe:01 42 /bin/\\012x\n");
	write_process(scene.dir, 2, "/usr",
		      "00700000-00701000 r-xp 00003000 fe:01 42 /bin/x\n"
		      "00800000-00801000 r-xp 00000000 00:2a 42 /bin/x\n"
		      "00900000-00901000 r-xp 00000000 fe:01 42 /bin/y\n"
		      "00a00000-00a01000 r-xp 00000000 fe:01 43 /bin/x\n"
		      "00b00000-00b01000 r-xp 00000000 fe:02 42 /bin/x\n"
		      "00c00000-00c01000 r-xp 00000000 fe:01 42 /bin/x (deleted)\n"
		      "00d00000-00d01000 r-xp 00000000 fe:01 42 /bin/\\012x\n");
	proc_free(scene.proc);
	CHECK_OK(proc_open(scene.dir, &scene.proc));
	for (uint32_t pid = 1; pid <= 2; pid++) {
		enum proc_outcome outcome;
		CHECK_OK(maps_read(scene.proc, pid, NULL, scene.files, &scene.mappings, &outcome));
	}
	static const uint32_t files[] = { 0, 1, 2, 0, 3, 4, 5, 6, 7, 2 };
	REQUIRE(scene.mappings.count == sizeof files / sizeof *files);
	for (size_t i = 0; i < scene.mappings.count; i++)
		CHECK_UINT(scene.mappings.items[i].file, files[i]);
	CHECK_UINT(scene.mappings.items[3].offset, 0x3000);
	remove_process(scene.dir, 1);
	remove_process(scene.dir, 2);
	scene_end(&scene);
}
