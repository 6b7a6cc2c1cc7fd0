// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sources that are trees of files named by build ID: --images, perf's cache, .build-id trees,
// debuginfod's client cache.
#include <string.h>
#include <sys/stat.h>

#include "find/dir_index.h"
#include "find/search.h"

// "ab/cdef…" of an ID of at least two bytes.
struct id_path {
	char text[BUILD_ID_TEXT_SIZE + 1];
};

static bool id_path_of(const struct build_id *id, struct id_path *ret)
{
	struct build_id_text text = build_id_text(id);
	if (id->size < 2)
		return false;
	memcpy(ret->text, text.text, 2);
	ret->text[2] = '/';
	memcpy(ret->text + 3, text.text + 2, strlen(text.text) - 1);
	return true;
}

static bool is_kernel(const struct search *search)
{
	return search->image->kind == IMAGE_KERNEL || search->image->kind == IMAGE_GUEST_KERNEL;
}

static bool is_module(const struct search *search)
{
	return search->image->kind == IMAGE_MODULE || search->image->kind == IMAGE_GUEST_MODULE;
}

// Compressed kernels and modules in the directories, by their names. Where only the ID is known, a
// module may be any of them, unless they are so many that unpacking them would take minutes.
static struct imp_error *look_at_packed(struct search *search)
{
	enum { NAMELESS_MOST = 256 };
	char name[128] = "vmlinu";
	if (is_module(search))
		module_name_of(search->image->path ? search->image->path : "", name, sizeof name);
	_cleanup_free_ const char **paths = NULL;
	size_t count;
	struct imp_error *err = dir_index_packed(search->finder->index, name, &paths, &count);
	if (!name[0] && count > NAMELESS_MOST)
		return err;
	for (size_t i = 0; i < count && !err && !search->finding->image; i++)
		err = search_try(search, paths[i]);
	return err;
}

struct imp_error *look_in_images(struct search *search)
{
	struct finder *finder = search->finder;
	const struct indexed_file *files;
	size_t count, used = 0;
	if (!finder->index)
		return NULL;
	struct imp_error *err = dir_index_find(finder->index, &search->image->id,
					       search->image->id_is_padded, &files, &count);
	for (size_t i = 0; i < count && !err; i++) {
		// Copies of kallsyms are another source's.
		if (files[i].is_kallsyms)
			continue;
		err = search_try(search, files[i].path);
		used++;
	}
	if (!err && !used && (is_kernel(search) || is_module(search)))
		err = look_at_packed(search);
	for (size_t i = 0; !err && !used && finder->image_dirs[i]; i++)
		if (!search->finding->image)
			err = search_note(search, finder->image_dirs[i], FIND_ABSENT, NULL, NULL);
	return err;
}

// What stands at PATH in perf's cache: a file (perf before 4.7), or a directory of files.
static struct imp_error *look_at_cache_entry(struct search *search, const char *path)
{
	static const char *const names[] = { "elf", "debug", "vdso" };
	struct stat status;
	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
		return search_try(search, path);
	struct imp_error *err = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !err; i++) {
		_cleanup_free_ char *file = path_of("%s/%s", path, names[i]);
		if (!file)
			return &imp_error_no_memory;
		if (!access(file, F_OK))
			err = search_try(search, file);
	}
	return err;
}

struct imp_error *look_in_perf_cache(struct search *search)
{
	const char *dir = search->finder->options.buildid_dir;
	struct imp_error *err = NULL;
	for (size_t i = 0; dir && i < search->id_count && !err; i++) {
		struct id_path id;
		if (!id_path_of(&search->ids[i], &id))
			continue;
		_cleanup_free_ char *path = path_of("%s/.build-id/%s", dir, id.text);
		if (!path)
			return &imp_error_no_memory;
		err = look_at_cache_entry(search, path);
		// perf cuts IDs to 20 bytes in names.
		if (!err && search->ids[i].size > 20) {
			path[strlen(path) - 2 * (search->ids[i].size - 20u)] = 0;
			err = look_at_cache_entry(search, path);
		}
	}
	return err;
}

// DIR/.build-id/ab/cdef… in the forms of gdb, elfutils and rpm.
static struct imp_error *look_in_tree(struct search *search, const char *dir)
{
	static const char *const ends[] = {
		".debug", "", ".1", ".2", ".3", ".debug.1", ".debug.2"
	};
	struct imp_error *err = NULL;
	for (size_t i = 0; i < search->id_count && !err; i++) {
		struct id_path id;
		if (!id_path_of(&search->ids[i], &id))
			continue;
		for (size_t j = 0; j < sizeof ends / sizeof *ends && !err; j++) {
			_cleanup_free_ char *path =
				path_of("%s/.build-id/%s%s", dir, id.text, ends[j]);
			if (!path)
				return &imp_error_no_memory;
			// Only the first two are worth a word when they are not there.
			if (j < 2 || !access(path, F_OK))
				err = search_try(search, path);
		}
	}
	return err;
}

struct imp_error *look_in_debug_trees(struct search *search)
{
	const struct finder *finder = search->finder;
	const char *sysroot = finder->options.sysroot;
	struct imp_error *err = NULL;
	for (const char *const *dir = finder->options.debug_dirs; *dir && !err; dir++) {
		_cleanup_free_ char *below = sysroot ? path_of("%s%s", sysroot, *dir) : NULL;
		if (sysroot)
			err = below ? look_in_tree(search, below) : &imp_error_no_memory;
		if (!err && !search_is_complete(search))
			err = look_in_tree(search, *dir);
	}
	// rpm's links to programs and libraries.
	if (!err && !search_is_complete(search))
		err = look_in_tree(search, "/usr/lib");
	return err;
}

struct imp_error *look_in_debuginfod_cache(struct search *search)
{
	static const char *const names[] = { "executable", "debuginfo" };
	const char *dir = search->finder->options.debuginfod_cache;
	struct imp_error *err = NULL;
	for (size_t i = 0; dir && i < search->id_count; i++) {
		struct build_id_text id = build_id_text(&search->ids[i]);
		for (size_t j = 0; j < sizeof names / sizeof *names && !err; j++) {
			_cleanup_free_ char *path = path_of("%s/%s/%s", dir, id.text, names[j]);
			struct stat status;
			if (!path)
				return &imp_error_no_memory;
			// An empty file remembers that the servers had none.
			if (!stat(path, &status) && status.st_size == 0)
				err = search_note(search, path, FIND_ABSENT, NULL,
						  "the servers had none");
			else
				err = search_try(search, path);
		}
	}
	return err;
}
