// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Visiting every entry of a store, in order.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "store/beneath.h"
#include "store/journal.h"
#include "store/root.h"

struct names {
	ARRAY_OF(struct entry_name);
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct entry_name *)a)->text, ((const struct entry_name *)b)->text);
}

// The entries in the shard (".build-id/ab"), sorted.
static struct imp_error *shard_names(struct store *store, const char *shard, bool is_hash,
				     struct names *ret)
{
	_cleanup_close_ int fd = beneath_open_dir(store->root, shard, false);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : open_listing(fd);
	if (!dir)
		return errno == ENOENT ? NULL : error_system(errno, "%s: cannot list", shard);
	for (struct dirent *file; (file = readdir(dir));) {
		char text[BUILD_ID_TEXT_SIZE + 256];
		const char *rest = strcmp(file->d_name, "_") ? file->d_name : "";
		const char *first = is_hash ? "" : strrchr(shard, '/') + 1;
		(void)snprintf(text, sizeof text, "%s%s", first, rest);
		struct build_id id;
		if (!build_id_parse(text, &id))
			continue;
		struct entry_name *name = array_add(ret);
		if (!name)
			return &imp_error_no_memory;
		*name = entry_name_of(&id, NULL);
		name->is_hash = is_hash;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_names);
	return NULL;
}

static struct imp_error *visit_entry(struct store *store, const struct entry_name *name,
				     store_visitor *visit, void *arg)
{
	_cleanup_close_ int fd = store_entry_open(store, name, false);
	if (fd < 0)
		return errno == ENOENT
			       ? NULL
			       : error_system(errno, "%s: cannot open the entry", name->text);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = entry_objects(fd, name, &objects);
	if (err || !objects.count)
		return err;
	struct store_entry entry = { .name = name->text,
				     .objects = &objects,
				     .used_s = entry_used_s(fd),
				     .is_pinned = entry_is_pinned(store, name) };
	if (!name->is_hash)
		(void)build_id_parse(name->text, &entry.id);
	for (size_t i = 0; i < objects.count; i++)
		entry.size_bytes += objects.items[i].size_bytes;
	return visit(arg, &entry);
}

// Visits the entries of the shard BYTE whose names begin with DIGITS.
static struct imp_error *walk_shard(struct store *store, const char *byte, bool is_hash,
				    const char *digits, store_visitor *visit, void *arg)
{
	char shard[32];
	(void)snprintf(shard, sizeof shard, "%s/%.2s",
		       is_hash ? LAYOUT_HOME "/hashes" : ".build-id", byte);
	struct names names = { 0 };
	struct imp_error *err = shard_names(store, shard, is_hash, &names);
	for (size_t i = 0; !err && i < names.count; i++)
		if (!strncmp(names.items[i].text, digits, strlen(digits)))
			err = visit_entry(store, &names.items[i], visit, arg);
	array_fini(&names);
	return err;
}

static struct imp_error *walk_room(struct store *store, bool is_hash, store_visitor *visit,
				   void *arg)
{
	struct imp_error *err = NULL;
	for (unsigned byte = 0; !err && byte < 256; byte++) {
		char digits[3];
		(void)snprintf(digits, sizeof digits, "%02x", byte & 0xff);
		err = walk_shard(store, digits, is_hash, "", visit, arg);
	}
	return err;
}

struct imp_error *store_walk(struct store *store, store_visitor *visit, void *arg)
{
	struct imp_error *err = walk_room(store, false, visit, arg);
	return err ? err : walk_room(store, true, visit, arg);
}

struct imp_error *store_walk_prefix(struct store *store, const char *digits, store_visitor *visit,
				    void *arg)
{
	if (strlen(digits) < 2 || strspn(digits, "0123456789abcdef") != strlen(digits))
		return NULL;
	struct imp_error *err = walk_shard(store, digits, false, digits, visit, arg);
	return err ? err : walk_shard(store, digits, true, digits, visit, arg);
}

struct imp_error *store_walk_path(struct store *store, const char *path, store_visitor *visit,
				  void *arg)
{
	_cleanup_journal_ struct journal journal = { 0 };
	struct names names = { 0 };
	struct imp_error *err = journal_read_path(store, path, &journal);
	for (size_t i = 0; !err && i < journal.count; i++) {
		struct entry_name *name = array_add(&names);
		if (!name)
			err = &imp_error_no_memory;
		else
			*name = journal.items[i].entry;
	}
	if (names.count)
		qsort(names.items, names.count, sizeof *names.items, compare_names);
	for (size_t i = 0; !err && i < names.count; i++)
		if (!i || compare_names(&names.items[i - 1], &names.items[i]) != 0)
			err = visit_entry(store, &names.items[i], visit, arg);
	array_fini(&names);
	return err;
}
