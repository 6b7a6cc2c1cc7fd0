// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Setting and removing the links of imprint-store(5).
#include "store/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "store/beneath.h"

enum { TEXT_SIZE = 1024 };

// The best object among those that WANTED accepts, or NULL.
typedef bool object_test(const struct store_object *object);

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

static const struct perf_name {
	const char *name;
	object_test *wanted;
} perf_names[] = {
	{ "elf", is_executable },
	{ "debug", is_debug },
	{ "vdso", is_vdso },
	{ "kallsyms", is_kallsyms },
};

static struct imp_error *link_error(const struct store *store, const char *name)
{
	return error_system(errno, "%s: cannot make the link %s", store->dir, name);
}

static struct imp_error *link_in_entry(struct store *store, const struct entry_view *view)
{
	for (size_t i = 0; i < sizeof perf_names / sizeof *perf_names; i++) {
		const struct perf_name *row = &perf_names[i];
		const struct store_object *best = best_object(view->objects, row->wanted);
		if (!best)
			(void)unlinkat(view->entry, row->name, 0);
		else if (!beneath_link(view->entry, row->name, object_name_of(best).text,
				       LINK_REPLACE, store->tmp))
			return link_error(store, row->name);
	}
	return NULL;
}

// Links PATH in the store to TEXT. A path that cannot be (a file or a link stands in its way, its
// names are too long) has no view, and that is all.
static struct imp_error *link_at(struct store *store, const char *path, const char *text,
				 enum link_policy policy)
{
	const char *name;
	_cleanup_close_ int dir = beneath_open_parent(store->root, path, true, &name);
	if (dir >= 0 && beneath_link(dir, name, text, policy, store->tmp))
		return NULL;
	if (errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG || errno == EINVAL)
		return NULL;
	return link_error(store, path);
}

// "/a/b" gives "a/b/HEX"; false when the path has no place in the tree.
static bool path_view(const struct entry_name *name, const char *path, char *text)
{
	if (!path || !layout_path_is_plain(path))
		return false;
	const char *hash = name->is_hash ? "sha256-" : "";
	return snprintf(text, TEXT_SIZE, "%s/%s%s", path + (path[0] == '/'), hash, name->text) <
	       TEXT_SIZE;
}

// The way from PATH (in the store) up to the root and down to the entry.
static bool entry_text(const struct entry_name *name, const char *path, char *text)
{
	size_t at = 0;
	for (; *path; path++) {
		if (*path != '/')
			continue;
		if (at + sizeof "../" + ENTRY_DIR_SIZE >= TEXT_SIZE)
			return false;
		memcpy(text + at, "../", 3);
		at += 3;
	}
	(void)snprintf(text + at, TEXT_SIZE - at, LAYOUT_HOME "/%s", entry_dir_of(name).text);
	return true;
}

static struct imp_error *link_path(struct store *store, const struct entry_view *view,
				   const char *path)
{
	char place[TEXT_SIZE];
	char text[TEXT_SIZE];
	if (!path_view(view->name, path, place) || !entry_text(view->name, place, text))
		return NULL;
	return link_at(store, place, text, LINK_REPLACE);
}

struct id_place {
	char text[ENTRY_DIR_SIZE + 32];
};

// "ROOT.build-id/ab/cdef…SUFFIX".
static struct id_place id_place(const struct entry_name *name, const char *root, const char *suffix)
{
	struct id_place place;
	(void)snprintf(place.text, sizeof place.text, "%s.build-id/%.2s/%s%s", root, name->text,
		       name->text + 2, suffix);
	return place;
}

// perf reads an image's name out of the link's text, so that leads over the path where there is
// one.
static struct imp_error *link_for_perf(struct store *store, const struct entry_view *view,
				       const char *path)
{
	char text[TEXT_SIZE + 8];
	char way[TEXT_SIZE];
	if (!path_view(view->name, path, way))
		(void)snprintf(way, sizeof way, LAYOUT_HOME "/%s", entry_dir_of(view->name).text);
	(void)snprintf(text, sizeof text, "../../%s", way);
	return link_at(store, id_place(view->name, "", "").text, text, LINK_KEEP);
}

static struct imp_error *link_object(struct store *store, const struct entry_view *view,
				     const char *place, const struct store_object *object)
{
	char text[TEXT_SIZE];
	const char *up = place[0] == '.' ? "../../" : "../../../";
	(void)snprintf(text, sizeof text, "%s" LAYOUT_HOME "/%s/%s", up,
		       entry_dir_of(view->name).text, object_name_of(object).text);
	return link_at(store, place, text, LINK_REPLACE);
}

static struct imp_error *link_for_debuggers(struct store *store, const struct entry_view *view)
{
	struct imp_error *err = NULL;
	const struct store_object *named = best_object(view->objects, has_names);
	if (named)
		err = link_object(store, view, id_place(view->name, "", ".debug").text, named);
	const struct store_object *code = best_object(view->objects, is_code);
	if (!err && code)
		err = link_object(store, view, id_place(view->name, "executables/", "").text, code);
	return err;
}

struct imp_error *view_update(struct store *store, const struct entry_view *view, const char *path)
{
	struct imp_error *err = link_in_entry(store, view);
	if (!err)
		err = link_path(store, view, path);
	// An ID of one byte leaves nothing for a name; one that is a hash means nothing to others.
	if (err || view->name->is_hash || strlen(view->name->text) < 4)
		return err;
	err = link_for_perf(store, view, path);
	return err ? err : link_for_debuggers(store, view);
}

static void remove_at(struct store *store, const char *path)
{
	const char *name;
	_cleanup_close_ int dir = beneath_open_parent(store->root, path, false, &name);
	char text[PATH_MAX];
	// Only links are ours.
	if (dir < 0 || readlinkat(dir, name, text, sizeof text) < 0)
		return;
	(void)unlinkat(dir, name, 0);
	if (name > path) {
		char parent[TEXT_SIZE];
		(void)snprintf(parent, sizeof parent, "%.*s", (int)(name - path - 1), path);
		beneath_prune(store->root, parent);
	}
}

void view_remove_path(struct store *store, const struct entry_name *name, const char *path)
{
	char place[TEXT_SIZE];
	if (path_view(name, path, place))
		remove_at(store, place);
}

void view_remove(struct store *store, const struct entry_name *name)
{
	if (name->is_hash)
		return;
	remove_at(store, id_place(name, "", "").text);
	remove_at(store, id_place(name, "", ".debug").text);
	remove_at(store, id_place(name, "executables/", "").text);
}
