// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading all of a store: every object against its hash, every link against what it leads to.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "store/beneath.h"
#include "store/journal.h"
#include "store/root.h"
#include "store/view.h"

struct verification {
	struct store *store;
	const struct store_verify_options *options;
	ARRAY_OF(struct entry_name) names;
	pthread_mutex_t mutex;
	struct store_verify_counts counts;
};

static struct imp_error *note_name(void *arg, const struct store_entry *entry)
{
	struct verification *all = arg;
	struct entry_name *name = array_add(&all->names);
	if (!name)
		return &imp_error_no_memory;
	name->is_hash = build_id_is_none(&entry->id);
	memcpy(name->text, entry->name, strlen(entry->name) + 1);
	return NULL;
}

static struct imp_error *is_whole(struct verification *all, int fd, const char *path,
				  const struct store_object *object, bool *ret)
{
	struct store_hash hash;
	uint64_t size = 0;
	struct imp_error *err = store_hash_fd(all->store, fd, path, &hash, &size);
	if (err)
		return err;
	*ret = store_hash_equal(&hash, &object->hash) &&
	       (!all->options->is_right || object->role == STORE_INDEX ||
		all->options->is_right(all->options->arg, object, fd));
	pthread_mutex_lock(&all->mutex);
	all->counts.objects++;
	all->counts.bytes += size;
	all->counts.damaged += !*ret;
	pthread_mutex_unlock(&all->mutex);
	return NULL;
}

static struct imp_error *verify_object(struct verification *all, int entry,
				       const struct entry_name *name,
				       const struct store_object *object)
{
	_cleanup_free_ char *path = store_object_path(all->store, object);
	if (!path)
		return &imp_error_no_memory;
	_cleanup_close_ int fd =
		openat(entry, object_name_of(object).text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? NULL : error_system(errno, "%s: cannot open", path);
	bool whole = false;
	struct imp_error *err = is_whole(all, fd, path, object, &whole);
	if (err || whole)
		return err;
	if (store_is_writable(all->store))
		return object_set_aside(all->store, entry, name, object);
	log_message(all->store->log, LOG_WARNING, "%s: damaged", path);
	return NULL;
}

// Sets what links are missing, as a writer that died between an object and its links leaves it.
static struct imp_error *restore_links(struct verification *all, int entry,
				       const struct entry_name *name)
{
	if (!store_is_writable(all->store))
		return NULL;
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(all->store, LOCK_ADD, &lock);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	_cleanup_journal_ struct journal journal = { 0 };
	if (!err)
		err = entry_objects(entry, name, &objects);
	if (!err)
		err = journal_read(entry, &journal);
	struct entry_view view = { .name = name, .entry = entry, .objects = &objects };
	if (!err && objects.count)
		err = view_update(all->store, &view, NULL);
	for (size_t i = 0; !err && objects.count && i < journal.count; i++)
		if (journal.items[i].path)
			err = view_update(all->store, &view, journal.items[i].path);
	return err;
}

static struct imp_error *verify_entry(void *arg, unsigned worker, size_t piece)
{
	(void)worker;
	struct verification *all = arg;
	const struct entry_name *name = &all->names.items[piece];
	_cleanup_close_ int entry = store_entry_open(all->store, name, false);
	if (entry < 0)
		return NULL;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = entry_objects(entry, name, &objects);
	for (size_t i = 0; !err && i < objects.count; i++)
		err = verify_object(all, entry, name, &objects.items[i]);
	return err ? err : restore_links(all, entry, name);
}

// A link of ours (they all lead upwards first) whose end is gone.
static bool is_dangling(const FTSENT *file)
{
	struct stat stat;
	char text[3];
	return file->fts_info == FTS_SL && fstatat(AT_FDCWD, file->fts_path, &stat, 0) < 0 &&
	       errno == ENOENT && readlink(file->fts_path, text, sizeof text) == sizeof text &&
	       !memcmp(text, "../", sizeof text);
}

// Removes links that lead nowhere from the trees for other tools.
static void remove_dangling(struct verification *all)
{
	char *roots[] = { all->store->dir, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	for (FTSENT *file; walk && (file = fts_read(walk));) {
		if (file->fts_level == 1 && !strcmp(file->fts_name, LAYOUT_HOME))
			(void)fts_set(walk, file, FTS_SKIP);
		if (!is_dangling(file) || unlink(file->fts_path) < 0)
			continue;
		all->counts.links++;
		char parent[PATH_MAX];
		(void)snprintf(parent, sizeof parent, "%s", file->fts_path);
		*strrchr(parent, '/') = 0;
		size_t above = strlen(all->store->dir);
		if (strlen(parent) > above)
			beneath_prune(all->store->root,
				      parent + above + strspn(parent + above, "/"));
	}
	if (walk)
		(void)fts_close(walk);
}

static struct imp_error *verify(struct verification *all)
{
	struct imp_error *err = store_walk(all->store, note_name, all);
	if (err)
		return err;
	all->counts.entries = all->names.count;
	err = parallel_run(parallel_workers(all->options->workers), all->names.count, verify_entry,
			   all);
	if (err || !store_is_writable(all->store))
		return err;
	_cleanup_close_ int lock = -1;
	err = store_lock(all->store, LOCK_ALONE, &lock);
	if (err)
		return err;
	remove_dangling(all);
	leftovers_remove(all->store, &all->counts.leftovers);
	return NULL;
}

struct imp_error *store_verify(struct store *store, const struct store_verify_options *options,
			       struct store_verify_counts *ret)
{
	struct verification all = { .store = store, .options = options };
	(void)pthread_mutex_init(&all.mutex, NULL);
	struct imp_error *err = verify(&all);
	(void)pthread_mutex_destroy(&all.mutex);
	array_fini(&all.names);
	if (!err)
		*ret = all.counts;
	return err;
}
