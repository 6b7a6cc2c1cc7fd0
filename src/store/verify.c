// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading all of a store: every object against its hash, every name against what bears it.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "store/packed.h"
#include "store/root.h"
#include "store/view.h"

struct verification {
	struct store *store;
	const struct store_verify_options *options;
	ARRAY_OF(struct entry_name) names;
	struct {
		ARRAY_OF(struct packed_copy);
	} copies;
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

// Gives the names for other tools, which a writer that died between an object and them leaves out.
static struct imp_error *restore_names(struct verification *all, int entry,
				       const struct entry_name *name)
{
	if (!store_is_writable(all->store))
		return NULL;
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(all->store, LOCK_ADD, &lock);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	if (!err)
		err = entry_objects(entry, name, &objects);
	int64_t used_s = entry_used_s(entry);
	if (!err)
		err = view_update(all->store, name, entry, &objects, NULL, false);
	// Being looked at here is no use.
	if (entry_used_s(entry) != used_s) {
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
						   { .tv_sec = used_s } };
		(void)futimens(entry, times);
	}
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
	return err ? err : restore_names(all, entry, name);
}

static struct imp_error *note_copy(void *arg, const struct packed_copy *copy)
{
	struct verification *all = arg;
	struct packed_copy *slot = array_add(&all->copies);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *copy;
	return NULL;
}

static struct imp_error *verify_copy(void *arg, unsigned worker, size_t piece)
{
	(void)worker;
	struct verification *all = arg;
	const struct packed_copy *copy = &all->copies.items[piece];
	bool is_right = false;
	struct imp_error *err = packed_check(all->store, copy, &is_right);
	if (err || is_right)
		return err;
	bool is_gone = store_is_writable(all->store) && packed_remove(all->store, copy);
	log_message(all->store->log, LOG_WARNING, "%s/.imprint/packed/%.2s/%s: not whole%s",
		    all->store->dir, copy->name, copy->name, is_gone ? ", removed" : "");
	pthread_mutex_lock(&all->mutex);
	all->counts.leftovers += is_gone;
	pthread_mutex_unlock(&all->mutex);
	return NULL;
}

static struct imp_error *verify(struct verification *all)
{
	struct imp_error *err = store_walk(all->store, note_name, all);
	if (!err)
		err = packed_walk(all->store, note_copy, all);
	if (err)
		return err;
	all->counts.entries = all->names.count;
	err = parallel_run(parallel_workers(all->options->workers), all->names.count, verify_entry,
			   all);
	if (!err)
		err = parallel_run(parallel_workers(all->options->workers), all->copies.count,
				   verify_copy, all);
	if (err || !store_is_writable(all->store))
		return err;
	_cleanup_close_ int lock = -1;
	err = store_lock(all->store, LOCK_ALONE, &lock);
	if (err)
		return err;
	view_sweep(all->store, &all->counts.names);
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
	array_fini(&all.copies);
	if (!err)
		*ret = all.counts;
	return err;
}
