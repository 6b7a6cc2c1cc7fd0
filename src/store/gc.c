// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Freeing space: the least recently used entries go first.
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "store/packed.h"
#include "store/root.h"

struct aged {
	struct entry_name name;
	uint64_t size_bytes;
	int64_t used_s;
};

struct collection {
	struct store *store;
	const struct store_gc_options *options;
	struct table keep;
	ARRAY_OF(struct aged) aged;
	struct {
		ARRAY_OF(struct packed_copy);
	} copies;
	struct store_gc_counts counts;
};

static bool is_to_keep(const struct collection *gc, const struct build_id *id)
{
	uint32_t index;
	struct table_probe probe = table_probe(&gc->keep, build_id_hash(id));
	while (table_next(&gc->keep, &probe, &index))
		if (build_id_equal(&gc->options->keep[index], id))
			return true;
	return false;
}

static struct imp_error *note_entry(void *arg, const struct store_entry *entry)
{
	struct collection *gc = arg;
	gc->counts.kept++;
	gc->counts.kept_bytes += entry->size_bytes;
	if (entry->is_pinned || is_to_keep(gc, &entry->id))
		return NULL;
	struct aged *aged = array_add(&gc->aged);
	if (!aged)
		return &imp_error_no_memory;
	aged->name.is_hash = build_id_is_none(&entry->id);
	memcpy(aged->name.text, entry->name, strlen(entry->name) + 1);
	aged->size_bytes = entry->size_bytes;
	aged->used_s = entry->used_s;
	return NULL;
}

static int compare_age(const void *left, const void *right)
{
	const struct aged *a = left;
	const struct aged *b = right;
	if (a->used_s != b->used_s)
		return a->used_s < b->used_s ? -1 : 1;
	return strcmp(a->name.text, b->name.text);
}

// Whether what was last used then goes.
static bool is_to_go(const struct collection *gc, int64_t used_s)
{
	const struct store_gc_options *options = gc->options;
	uint64_t bytes = gc->counts.kept_bytes + gc->counts.copies_kept_bytes;
	return (options->used_since_s && used_s < options->used_since_s) ||
	       (options->most_bytes && bytes > options->most_bytes);
}

static struct imp_error *note_copy(void *arg, const struct packed_copy *copy)
{
	struct collection *gc = arg;
	gc->counts.copies_kept_bytes += copy->size_bytes;
	struct packed_copy *slot = array_add(&gc->copies);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *copy;
	return NULL;
}

static int compare_copies(const void *left, const void *right)
{
	const struct packed_copy *a = left;
	const struct packed_copy *b = right;
	if (a->used_s != b->used_s)
		return a->used_s < b->used_s ? -1 : 1;
	return strcmp(a->name, b->name);
}

// A reader that has one open keeps it until it is done: no lock is needed.
static void collect_copies(struct collection *gc)
{
	if (gc->copies.count)
		qsort(gc->copies.items, gc->copies.count, sizeof *gc->copies.items, compare_copies);
	for (size_t i = 0; i < gc->copies.count; i++) {
		const struct packed_copy *copy = &gc->copies.items[i];
		if (!is_to_go(gc, copy->used_s))
			return;
		if (!gc->options->is_dry && !packed_remove(gc->store, copy))
			continue;
		gc->counts.copies_gone++;
		gc->counts.copies_gone_bytes += copy->size_bytes;
		gc->counts.copies_kept_bytes -= copy->size_bytes;
	}
}

// What an entry that goes was, for who listens.
static struct imp_error *tell(struct collection *gc, const struct aged *aged, int fd)
{
	if (!gc->options->going)
		return NULL;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = entry_objects(fd, &aged->name, &objects);
	struct store_entry entry = { .name = aged->name.text,
				     .objects = &objects,
				     .size_bytes = aged->size_bytes,
				     .used_s = aged->used_s };
	if (!aged->name.is_hash)
		(void)build_id_parse(aged->name.text, &entry.id);
	if (!err)
		gc->options->going(gc->options->arg, &entry);
	return err;
}

static struct imp_error *collect_one(struct collection *gc, const struct aged *aged)
{
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(gc->store, LOCK_ALONE, &lock);
	if (err)
		return err;
	_cleanup_close_ int fd = store_entry_open(gc->store, &aged->name, false);
	// Gone already, or used since it was looked at.
	if (fd < 0 || entry_used_s(fd) != aged->used_s)
		return NULL;
	err = tell(gc, aged, fd);
	if (!err && !gc->options->is_dry)
		err = entry_remove(gc->store, &aged->name);
	if (err)
		return err;
	gc->counts.kept--;
	gc->counts.gone++;
	gc->counts.kept_bytes -= aged->size_bytes;
	gc->counts.gone_bytes += aged->size_bytes;
	return NULL;
}

static struct imp_error *collect(struct collection *gc)
{
	for (size_t i = 0; i < gc->options->keep_count; i++)
		if (!table_insert(&gc->keep, build_id_hash(&gc->options->keep[i]), (uint32_t)i))
			return &imp_error_no_memory;
	struct imp_error *err = store_walk(gc->store, note_entry, gc);
	if (!err)
		err = packed_walk(gc->store, note_copy, gc);
	if (err)
		return err;
	collect_copies(gc);
	if (gc->aged.count)
		qsort(gc->aged.items, gc->aged.count, sizeof *gc->aged.items, compare_age);
	for (size_t i = 0; !err && i < gc->aged.count && is_to_go(gc, gc->aged.items[i].used_s);
	     i++)
		err = collect_one(gc, &gc->aged.items[i]);
	return err;
}

struct imp_error *store_gc(struct store *store, const struct store_gc_options *options,
			   struct store_gc_counts *ret)
{
	if (!store_is_writable(store))
		return error_new(IMP_ERR_USAGE, "%s: the store is open for reading only",
				 store->dir);
	size_t leftovers = 0;
	if (!options->is_dry)
		leftovers_remove(store, &leftovers);
	struct collection gc = { .store = store, .options = options };
	struct imp_error *err = collect(&gc);
	table_fini(&gc.keep);
	array_fini(&gc.aged);
	array_fini(&gc.copies);
	if (!err)
		*ret = gc.counts;
	return err;
}
