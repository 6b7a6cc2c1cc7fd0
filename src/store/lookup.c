// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding what the store has: by ID and role, by hash, by prefix, by path.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hex.h"
#include "store/beneath.h"
#include "store/journal.h"
#include "store/root.h"

void store_objects_fini(struct store_objects *objects)
{
	array_fini(objects);
}

void store_ids_fini(struct store_ids *ids)
{
	array_fini(ids);
}

void store_sights_fini(struct store_sights *sights)
{
	for (size_t i = 0; i < sights->count; i++)
		free(sights->items[i].path);
	array_fini(sights);
}

bool object_is_better(const struct store_object *a, const struct store_object *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (a->role != b->role)
		return a->role < b->role;
	if (a->added_s != b->added_s)
		return a->added_s < b->added_s;
	return memcmp(a->hash.bytes, b->hash.bytes, sizeof a->hash.bytes) < 0;
}

DIR *open_listing(int fd)
{
	_cleanup_close_ int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	if (dir)
		(void)steal_fd(&own);
	return dir;
}

static int compare_objects(const void *a, const void *b)
{
	return object_is_better(a, b) ? -1 : object_is_better(b, a);
}

struct imp_error *entry_objects(int entry, const struct entry_name *name, struct store_objects *ret)
{
	size_t first = ret->count;
	_cleanup_dir_ DIR *dir = open_listing(entry);
	if (!dir)
		return error_system(errno, "%s: cannot list the entry", name->text);
	for (struct dirent *file; (file = readdir(dir));) {
		struct store_object object = { 0 };
		struct stat stat;
		if (!object_name_parse(file->d_name, &object) ||
		    fstatat(entry, file->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		if (!name->is_hash)
			(void)build_id_parse(name->text, &object.id);
		object.size_bytes = (uint64_t)stat.st_size;
		object.added_s = stat.st_mtim.tv_sec;
		struct store_object *slot = array_add(ret);
		if (!slot)
			return &imp_error_no_memory;
		*slot = object;
	}
	if (ret->count > first)
		qsort(ret->items + first, ret->count - first, sizeof *ret->items, compare_objects);
	return NULL;
}

static struct imp_error *objects_of(struct store *store, const struct entry_name *name,
				    struct store_objects *ret)
{
	_cleanup_close_ int entry = store_entry_open(store, name, false);
	if (entry < 0)
		return errno == ENOENT ? NULL
				       : error_system(errno, "%s: cannot open the entry %s",
						      store->dir, name->text);
	return entry_objects(entry, name, ret);
}

struct imp_error *store_find_all(struct store *store, const struct build_id *id,
				 struct store_objects *ret)
{
	if (build_id_is_none(id))
		return NULL;
	struct entry_name name = entry_name_of(id, NULL);
	return objects_of(store, &name, ret);
}

struct imp_error *store_find_hash(struct store *store, const struct store_hash *hash,
				  struct store_objects *ret)
{
	const struct build_id none = { 0 };
	struct entry_name name = entry_name_of(&none, hash);
	return objects_of(store, &name, ret);
}

static bool answers(const struct store_object *object, enum store_role role)
{
	if (role == STORE_EXECUTABLE)
		return object->role == STORE_EXECUTABLE || object->role == STORE_VDSO;
	if (role == STORE_DEBUG)
		return (object->role == STORE_EXECUTABLE || object->role == STORE_VDSO ||
			object->role == STORE_DEBUG) &&
		       object->rank > STORE_STRIPPED;
	return object->role == role;
}

struct candidate {
	struct store_object object;
	// An executable that was seen at the path that was asked for.
	bool is_seen_there;
	bool is_index;
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	if (a->is_seen_there != b->is_seen_there)
		return a->is_seen_there ? -1 : 1;
	// Of what is made anew, the newest.
	if (a->is_index && a->object.added_s != b->object.added_s)
		return a->object.added_s > b->object.added_s ? -1 : 1;
	return object_is_better(&a->object, &b->object) ? -1 : 1;
}

static bool is_seen_at(const struct journal *journal, const struct store_hash *hash,
		       const char *path)
{
	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_line *line = &journal->items[i];
		if (line->kind == 's' && line->path && store_hash_equal(&line->hash, hash) &&
		    !strcmp(line->path, path))
			return true;
	}
	return false;
}

// The journal is only asked when several contents stand under one ID.
static struct imp_error *mark_seen(struct store *store, const struct store_query *query,
				   struct candidate *candidates, size_t count)
{
	if (!query->path || count < 2)
		return NULL;
	struct entry_name name = entry_name_of(&query->id, NULL);
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = journal_read_entry(store, &name, &journal);
	for (size_t i = 0; !err && i < count; i++)
		candidates[i].is_seen_there =
			candidates[i].object.role == STORE_EXECUTABLE &&
			is_seen_at(&journal, &candidates[i].object.hash, query->path);
	return err;
}

struct imp_error *store_find(struct store *store, const struct store_query *query,
			     struct store_objects *ret)
{
	_cleanup_store_objects_ struct store_objects all = { 0 };
	struct imp_error *err = store_find_all(store, &query->id, &all);
	if (err || !all.count)
		return err;
	_cleanup_free_ struct candidate *candidates = calloc(all.count, sizeof *candidates);
	if (!candidates)
		return &imp_error_no_memory;
	size_t count = 0;
	for (size_t i = 0; i < all.count; i++)
		if (answers(&all.items[i], query->role))
			candidates[count++] =
				(struct candidate){ .object = all.items[i],
						    .is_index = query->role == STORE_INDEX };
	err = mark_seen(store, query, candidates, count);
	if (err)
		return err;
	qsort(candidates, count, sizeof *candidates, compare_candidates);
	if (!array_reserve(ret, count))
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++)
		ret->items[ret->count++] = candidates[i].object;
	return NULL;
}

struct imp_error *store_sights(struct store *store, const struct build_id *id,
			       const struct store_hash *hash, struct store_sights *ret)
{
	struct entry_name name = entry_name_of(id, hash);
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = journal_read_entry(store, &name, &journal);
	for (size_t i = 0; !err && i < journal.count; i++) {
		struct journal_line *line = &journal.items[i];
		if (line->kind != 's' || !line->path)
			continue;
		struct store_sight *sight = array_add(ret);
		if (!sight)
			return &imp_error_no_memory;
		*sight = (struct store_sight){ .hash = line->hash,
					       .path = steal(line->path),
					       .time_s = line->time_s };
	}
	return err;
}

static bool ids_have(const struct store_ids *ids, const struct build_id *id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (build_id_equal(&ids->items[i], id))
			return true;
	return false;
}

static struct imp_error *add_id(struct store_ids *ids, const char *text)
{
	struct build_id id;
	if (!build_id_parse(text, &id) || ids_have(ids, &id))
		return NULL;
	struct build_id *slot = array_add(ids);
	if (!slot)
		return &imp_error_no_memory;
	*slot = id;
	return NULL;
}

// Entries are directories; ".debug" files beside them are not.
static struct imp_error *complete_in(int shard, const char *digits, struct store_ids *ret)
{
	_cleanup_dir_ DIR *dir = open_listing(shard);
	struct imp_error *err = NULL;
	for (struct dirent *entry; dir && !err && (entry = readdir(dir));) {
		char text[BUILD_ID_TEXT_SIZE + 256];
		const char *rest = strcmp(entry->d_name, "_") ? entry->d_name : "";
		(void)snprintf(text, sizeof text, "%.2s%s", digits, rest);
		if (!strncmp(text, digits, strlen(digits)))
			err = add_id(ret, text);
	}
	return err;
}

struct imp_error *store_complete(struct store *store, const char *prefix, struct store_ids *ret)
{
	char digits[BUILD_ID_TEXT_SIZE];
	size_t length = strnlen(prefix, sizeof digits);
	if (length < 2 || length == sizeof digits)
		return NULL;
	for (size_t i = 0; i <= length; i++) {
		char digit = prefix[i];
		if (digit && hex_digit(digit) < 0)
			return NULL;
		digits[i] = (char)(digit >= 'A' && digit <= 'F' ? digit - 'A' + 'a' : digit);
	}
	char shard[32];
	(void)snprintf(shard, sizeof shard, ".build-id/%.2s", digits);
	_cleanup_close_ int fd = beneath_open_dir(store->root, shard, false);
	return fd < 0 ? NULL : complete_in(fd, digits, ret);
}

struct imp_error *store_ids_at(struct store *store, const char *path, struct store_ids *ret)
{
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = journal_read_path(store, path, &journal);
	for (size_t i = journal.count; !err && i > 0; i--) {
		const struct journal_line *line = &journal.items[i - 1];
		_cleanup_close_ int entry =
			line->entry.is_hash ? -1 : store_entry_open(store, &line->entry, false);
		if (entry >= 0)
			err = add_id(ret, line->entry.text);
	}
	return err;
}
