// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Giving and taking the names that imprint-store(5) lists for other tools.
#include "store/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "store/beneath.h"

typedef bool object_test(const struct store_object *object);

// The best object among those that WANTED accepts, or NULL.
static const struct store_object *best_object(const struct store_objects *objects,
					      object_test *wanted)
{
	const struct store_object *best = NULL;
	for (size_t i = 0; i < objects->count; i++) {
		const struct store_object *object = &objects->items[i];
		if (wanted(object) && (!best || object_is_better(object, best)))
			best = object;
	}
	return best;
}

static bool is_executable(const struct store_object *object)
{
	return object->role == STORE_EXECUTABLE;
}

static bool is_debug(const struct store_object *object)
{
	return object->role == STORE_DEBUG;
}

static bool is_vdso(const struct store_object *object)
{
	return object->role == STORE_VDSO;
}

static bool is_kallsyms(const struct store_object *object)
{
	return object->role == STORE_KALLSYMS;
}

static bool is_code(const struct store_object *object)
{
	return is_executable(object) || is_vdso(object);
}

// A stripped file as `.debug` would keep a debugger from asking further.
static bool has_names(const struct store_object *object)
{
	return (is_code(object) || is_debug(object)) && object->rank >= STORE_SYMTAB;
}

static const struct view_def {
	// Within the entry; NULL for a place outside: "ROOT.build-id/ab/cdef…SUFFIX".
	const char *name;
	const char *root;
	const char *suffix;
	object_test *wanted;
} views[] = {
	{ "elf", NULL, NULL, is_executable }, { "debug", NULL, NULL, is_debug },
	{ "vdso", NULL, NULL, is_vdso },      { "kallsyms", NULL, NULL, is_kallsyms },
	{ NULL, "", ".debug", has_names },    { NULL, "executables/", "", is_code },
};

enum { VIEWS = sizeof views / sizeof *views, PLACE_SIZE = ENTRY_DIR_SIZE + 32 };

static void view_place(const struct view_def *view, const struct entry_name *name, char *place)
{
	(void)snprintf(place, PLACE_SIZE, "%s.build-id/%.2s/%s%s", view->root, name->text,
		       name->text + 2, view->suffix);
}

static bool give_name(struct store *store, int entry, const char *object, const char *text, int dir,
		      const char *name)
{
	return beneath_second_name(&(struct second_name){ .from = entry,
							  .from_name = object,
							  .to = dir,
							  .to_name = name,
							  .text = text,
							  .tmp = store->tmp });
}

// DIRS as view_update() has them.
static bool give_place(struct store *store, const struct view_def *view,
		       const struct shard_dirs *dirs, const struct entry_name *name, int entry,
		       const char *object)
{
	char place[PLACE_SIZE];
	char text[PLACE_SIZE + OBJECT_NAME_SIZE];
	view_place(view, name, place);
	(void)snprintf(text, sizeof text, "%s%s/%s", *view->root ? "../../../" : "../../",
		       entry_dir_of(name).text, object);
	const char *last = strrchr(place, '/') + 1;
	if (dirs)
		return give_name(store, entry, object, text,
				 *view->root ? dirs->executables : dirs->entries, last);
	_cleanup_close_ int dir = beneath_open_parent(store->root, place, true, &last);
	return dir >= 0 && give_name(store, entry, object, text, dir, last);
}

static void remove_place(struct store *store, const struct view_def *view,
			 const struct entry_name *name)
{
	char place[PLACE_SIZE];
	view_place(view, name, place);
	const char *last;
	_cleanup_close_ int dir = beneath_open_parent(store->root, place, false, &last);
	if (dir < 0 || unlinkat(dir, last, 0) < 0)
		return;
	place[last - place - 1] = 0;
	beneath_prune(store->root, place);
}

struct imp_error *view_update(struct store *store, const struct entry_name *name, int entry,
			      const struct store_objects *objects, const struct shard_dirs *dirs,
			      bool is_fresh)
{
	for (size_t i = 0; i < VIEWS; i++) {
		const struct view_def *view = &views[i];
		const struct store_object *best = best_object(objects, view->wanted);
		struct object_name object = { "" };
		if (best)
			object = object_name_of(best);
		if ((!view->name && !entry_has_places(name)) || (!best && is_fresh))
			continue;
		bool is_done = true;
		if (!best && view->name)
			(void)unlinkat(entry, view->name, 0);
		else if (!best)
			remove_place(store, view, name);
		else if (view->name)
			is_done = give_name(store, entry, object.text, object.text, entry,
					    view->name);
		else
			is_done = give_place(store, view, dirs, name, entry, object.text);
		if (!is_done)
			return error_system(errno, "%s: cannot name %s for other tools", store->dir,
					    name->text);
	}
	return NULL;
}

void view_remove(struct store *store, const struct entry_name *name)
{
	for (size_t i = 0; i < VIEWS; i++)
		if (!views[i].name && entry_has_places(name))
			remove_place(store, &views[i], name);
}

// The entry NAME has the file INODE, or is what a link NAME leads to.
static bool entry_has_file(struct store *store, const struct entry_name *name, ino_t inode)
{
	_cleanup_close_ int entry = store_entry_open(store, name, false);
	_cleanup_dir_ DIR *dir = entry < 0 ? NULL : open_listing(entry);
	for (struct dirent *file; dir && (file = readdir(dir));)
		if (file->d_ino == inode)
			return true;
	return false;
}

static bool is_orphan(struct store *store, int shard, const struct dirent *file,
		      const struct entry_name *name)
{
	struct stat stat;
	if (fstatat(shard, file->d_name, &stat, 0) < 0)
		return errno == ENOENT;
	return S_ISREG(stat.st_mode) && !entry_has_file(store, name, stat.st_ino);
}

static void sweep_shard(struct store *store, const struct view_def *view, unsigned byte,
			size_t *count)
{
	char path[64];
	(void)snprintf(path, sizeof path, "%s.build-id/%02x", view->root, byte);
	_cleanup_close_ int shard = beneath_open_dir(store->root, path, false);
	_cleanup_dir_ DIR *dir = shard < 0 ? NULL : open_listing(shard);
	for (struct dirent *file; dir && (file = readdir(dir));) {
		char text[BUILD_ID_TEXT_SIZE + 16];
		struct build_id id;
		size_t length = strlen(file->d_name);
		size_t suffix = strlen(view->suffix);
		if (length <= suffix || strcmp(file->d_name + length - suffix, view->suffix) != 0 ||
		    snprintf(text, sizeof text, "%02x%.*s", byte, (int)(length - suffix),
			     file->d_name) >= (int)sizeof text ||
		    !build_id_parse(text, &id))
			continue;
		struct entry_name name = entry_name_of(&id, NULL);
		if (is_orphan(store, shard, file, &name) && !unlinkat(shard, file->d_name, 0))
			++*count;
	}
	if (dir)
		beneath_prune(store->root, path);
}

void view_sweep(struct store *store, size_t *count)
{
	for (size_t i = 0; i < VIEWS; i++)
		for (unsigned byte = 0; !views[i].name && byte < 256; byte++)
			sweep_shard(store, &views[i], byte, count);
}
