// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the store to a remote: only what is missing there.
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/table.h"
#include "remote/bucket.h"
#include "remote/path_text.h"
#include "store/layout.h"

enum {
	HTTP_OK = 200,
	// ".build-id/ab", ".imprint/hashes/ab".
	SHARD_SIZE = 32,
};

// An object to be pushed.
struct parcel {
	struct store_object object;
	bool is_known;
};

// Of bytes in one PUT, as the protocol has it.
static const uint64_t put_most_bytes = UINT64_C(5) << 30;

struct push {
	struct remote *remote;
	struct store *store;
	ARRAY_OF(struct parcel) parcels;
	size_t next;
	struct remote_push_counts counts;
	uint64_t done_bytes, all_bytes;
	// For a directory.
	struct store_batch *batch;
};

static bool travels(const struct store_object *object)
{
	return object->role == STORE_EXECUTABLE || object->role == STORE_DEBUG ||
	       object->role == STORE_VDSO;
}

static struct imp_error *add_objects(struct push *push, const struct store_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		if (!travels(&objects->items[i]))
			continue;
		struct parcel *parcel = array_add(&push->parcels);
		if (!parcel)
			return &imp_error_no_memory;
		parcel->object = objects->items[i];
		push->all_bytes += parcel->object.size_bytes;
	}
	return NULL;
}

static struct imp_error *add_entry(void *arg, const struct store_entry *entry)
{
	return add_objects(arg, entry->objects);
}

static struct imp_error *gather(struct push *push, const struct build_id *ids, size_t count)
{
	struct imp_error *err = NULL;
	if (!count)
		return store_walk(push->store, add_entry, push);
	for (size_t i = 0; i < count && !err; i++) {
		_cleanup_store_objects_ struct store_objects objects = { 0 };
		err = store_find_all(push->store, &ids[i], &objects);
		if (!err)
			err = add_objects(push, &objects);
	}
	return err;
}

static char *key_of(const struct store_object *object)
{
	struct entry_name entry = entry_name_of(&object->id, &object->hash);
	char *key = NULL;
	return asprintf(&key, "%s/%s", entry_dir_of(&entry).text, object_name_of(object).text) < 0
		       ? NULL
		       : key;
}

// The directory above OBJECT's entry, with its slash.
static void shard_dir_of(const struct store_object *object, char *ret)
{
	struct entry_name entry = entry_name_of(&object->id, &object->hash);
	struct entry_dir dir = entry_dir_of(&entry);
	*strrchr(dir.text, '/') = 0;
	(void)snprintf(ret, SHARD_SIZE, "%.*s/", SHARD_SIZE - 2, dir.text);
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

// Marks the parcels FIRST to END, all of one shard, that LISTING has with their size.
static struct imp_error *mark_known(struct push *push, const struct listing *listing, size_t first,
				    size_t end)
{
	struct table table = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; i < listing->count && !err; i++)
		if (!table_insert(&table, hash_text(listing->items[i].key), (uint32_t)i))
			err = &imp_error_no_memory;
	for (size_t i = first; i < end && !err; i++) {
		struct parcel *parcel = &push->parcels.items[i];
		_cleanup_free_ char *key = key_of(&parcel->object);
		if (!key)
			err = &imp_error_no_memory;
		struct table_probe probe = table_probe(&table, key ? hash_text(key) : 0);
		for (uint32_t at; key && table_next(&table, &probe, &at);)
			if (!strcmp(listing->items[at].key, key) &&
			    listing->items[at].size_bytes == parcel->object.size_bytes)
				parcel->is_known = true;
	}
	table_fini(&table);
	return err;
}

// Asks what is there, for each shard that the parcels are of: they stand in the order of names.
static struct imp_error *ask_known(struct push *push, struct exchanger *exchanger, bool *failed)
{
	struct imp_error *err = NULL;
	*failed = false;
	for (size_t first = 0, end; first < push->parcels.count && !err && !*failed; first = end) {
		_cleanup_listing_ struct listing listing = { 0 };
		char shard[SHARD_SIZE], other[SHARD_SIZE];
		shard_dir_of(&push->parcels.items[first].object, shard);
		for (end = first + 1; end < push->parcels.count; end++) {
			shard_dir_of(&push->parcels.items[end].object, other);
			if (strcmp(shard, other) != 0)
				break;
		}
		err = bucket_list(push->remote, exchanger, shard, &listing, failed);
		if (!err && !*failed)
			err = mark_known(push, &listing, first, end);
	}
	return err;
}

static void count_done(struct push *push, const struct store_object *object, bool is_pushed)
{
	push->done_bytes += object->size_bytes;
	if (is_pushed) {
		push->counts.pushed++;
		push->counts.pushed_bytes += object->size_bytes;
	}
	log_progress(push->remote->options.log, "bytes pushed", push->done_bytes, push->all_bytes);
}

static void count_failed(struct push *push, const struct store_object *object, const char *why)
{
	push->counts.failed++;
	push->done_bytes += object->size_bytes;
	log_message(push->remote->options.log, LOG_WARNING, "%s %s: not pushed: %s",
		    store_role_name(object->role), build_id_text(&object->id).text, why);
}

// Where OBJECT was seen last; NULL when that is not known. The caller frees it.
static struct imp_error *last_path(struct store *store, const struct store_object *object,
				   char **ret)
{
	_cleanup_store_sights_ struct store_sights sights = { 0 };
	struct imp_error *err = store_sights(store, &object->id, &object->hash, &sights);
	*ret = NULL;
	for (size_t i = sights.count; !err && i > 0 && !*ret; i--)
		if (store_hash_equal(&sights.items[i - 1].hash, &object->hash))
			*ret = steal(sights.items[i - 1].path);
	return err;
}

// Opens the next parcel that can be sent. Those that cannot are counted.
static struct imp_error *open_next(struct push *push, const struct store_object **object, int *fd)
{
	for (*object = NULL; push->next < push->parcels.count && !*object; push->next++) {
		const struct parcel *parcel = &push->parcels.items[push->next];
		if (parcel->is_known)
			continue;
		if (parcel->object.size_bytes > put_most_bytes) {
			count_failed(push, &parcel->object, "larger than 5 GiB");
			continue;
		}
		struct imp_error *err = store_object_open(push->store, &parcel->object, fd);
		if (err && imp_error_code(err) == IMP_ERR_NO_MEMORY)
			return err;
		if (err) {
			count_failed(push, &parcel->object, imp_error_message(err));
			imp_error_free(err);
			continue;
		}
		*object = &parcel->object;
	}
	return NULL;
}

static struct imp_error *next_parcel(void *arg, struct exchange *ret, bool *more)
{
	struct push *push = arg;
	const struct store_object *object;
	_cleanup_free_ char *path = NULL;
	struct imp_error *err = NULL;
	*more = false;
	if (!atomic_load(&push->remote->has_failed))
		err = open_next(push, &object, &ret->fd);
	else
		object = NULL;
	if (err || !object)
		return err;
	_cleanup_free_ char *key = key_of(object);
	err = last_path(push->store, object, &path);
	if (err || !key)
		return err ? err : &imp_error_no_memory;
	ret->is_put = *more = true;
	ret->about = object;
	ret->size = object->size_bytes;
	ret->path = path ? path_text_write(path) : NULL;
	ret->hash = strdup(store_hash_text(&object->hash).text);
	ret->url = bucket_url(push->remote, key);
	return ret->hash && ret->url ? NULL : &imp_error_no_memory;
}

static struct imp_error *parcel_done(void *arg, struct exchange *exchange)
{
	struct push *push = arg;
	const struct store_object *object = exchange->about;
	if (exchange->status == HTTP_OK) {
		count_done(push, object, true);
		return NULL;
	}
	char why[64];
	(void)snprintf(why, sizeof why, "answered %ld", exchange->status);
	count_failed(push, object, exchange->status ? why : exchange->why);
	// Of a server that has an error of its own, and where the key is wrong, all would fail.
	if (!exchange->status || exchange->status == 401 || exchange->status == 403)
		bucket_give_up(push->remote, exchange);
	return NULL;
}

static struct imp_error *push_bucket(struct push *push, struct exchanger *exchanger)
{
	bool failed;
	struct imp_error *err = ask_known(push, exchanger, &failed);
	if (err || failed)
		return err;
	for (size_t i = 0; i < push->parcels.count; i++)
		if (push->parcels.items[i].is_known)
			count_done(push, &push->parcels.items[i].object, false);
	struct exchange_options options = bucket_options(push->remote);
	options.next = next_parcel;
	options.done = parcel_done;
	options.arg = push;
	return exchanges_run(exchanger, &options);
}

static struct imp_error *is_there(struct store *store, const struct store_object *object, bool *ret)
{
	_cleanup_store_objects_ struct store_objects there = { 0 };
	struct imp_error *err = build_id_is_none(&object->id)
					? store_find_hash(store, &object->hash, &there)
					: store_find_all(store, &object->id, &there);
	*ret = false;
	for (size_t i = 0; i < there.count; i++)
		*ret |= store_hash_equal(&there.items[i].hash, &object->hash);
	return err;
}

static struct imp_error *copy_one(struct push *push, const struct store_object *object)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *path = NULL;
	struct imp_error *err = store_object_open(push->store, object, &fd);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		count_failed(push, object, imp_error_message(err));
		imp_error_free(err);
		return NULL;
	}
	if (!err)
		err = last_path(push->store, object, &path);
	const struct store_item item = {
		.id = object->id, .role = object->role, .rank = object->rank, .path = path
	};
	if (!err)
		err = store_batch_add_fd(push->batch, &item, fd);
	if (!err)
		count_done(push, object, true);
	return err;
}

// What is copied in a directory becomes durable in batches; an interruption costs the last one.
static struct imp_error *push_directory(struct push *push)
{
	struct remote *remote = push->remote;
	struct imp_error *err = store_open(remote->address.url, STORE_WRITE, remote->options.log,
					   &remote->directory);
	if (!err)
		err = store_batch_new(remote->directory, &push->batch);
	for (size_t i = 0; i < push->parcels.count && !err; i++) {
		struct parcel *parcel = &push->parcels.items[i];
		if (remote->options.is_stopped && remote->options.is_stopped(remote->options.arg))
			break;
		err = is_there(remote->directory, &parcel->object, &parcel->is_known);
		if (!err && parcel->is_known)
			count_done(push, &parcel->object, false);
		else if (!err)
			err = copy_one(push, &parcel->object);
	}
	if (err)
		store_batch_free(push->batch);
	else
		err = store_batch_commit(push->batch, NULL);
	return err;
}

struct imp_error *remote_push(struct remote *remote, struct store *store,
			      const struct build_id *ids, size_t count,
			      struct remote_push_counts *ret)
{
	struct push push = { .remote = remote, .store = store };
	struct exchanger *exchanger = NULL;
	struct imp_error *err = gather(&push, ids, count);
	if (!err && remote->address.is_directory) {
		err = push_directory(&push);
	} else if (!err) {
		err = bucket_take(remote, &exchanger);
		if (!err)
			err = push_bucket(&push, exchanger);
		bucket_give_back(remote, exchanger);
	}
	for (size_t i = 0; i < push.parcels.count; i++)
		push.counts.known += push.parcels.items[i].is_known;
	// What was not come to is not done either.
	push.counts.failed = push.parcels.count - push.counts.known - push.counts.pushed;
	*ret = push.counts;
	array_fini(&push.parcels);
	return err;
}
