// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Adding: one object, or a batch that is made durable by one call.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/parallel.h"
#include "store/object.h"

static struct imp_error *check_writable(const struct store *store)
{
	if (store->mode == STORE_WRITE)
		return NULL;
	return error_new(IMP_ERR_USAGE, "%s: the store is open for reading only", store->dir);
}

// Makes the name of PENDING durable: its entry, and the directories above that may be new.
static struct imp_error *sync_name(struct store *store, const struct pending *pending)
{
	enum { MOST_LEVELS = 5 };
	if (!pending->is_published || !pending->is_new || store->is_transient)
		return NULL;
	struct entry_name name = pending_entry(pending);
	_cleanup_close_ int dir = store_entry_open(store, &name, false);
	struct stat root;
	struct stat at = { 0 };
	bool is_done = dir >= 0 && !fstat(store->root, &root);
	for (int level = 0; is_done && level < MOST_LEVELS && at.st_ino != root.st_ino; level++) {
		is_done = !fstat(dir, &at) && !fsync(dir);
		int parent = is_done ? openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		is_done = parent >= 0;
		if (is_done) {
			(void)close(dir);
			dir = parent;
		}
	}
	// Taken out again meanwhile: there is no name to keep.
	if (is_done || errno == ENOENT)
		return NULL;
	return error_system(errno, "%s: cannot make the name of %s durable", store->dir, name.text);
}

static struct imp_error *add(struct store *store, const struct store_item *item,
			     const struct source *source, struct store_added *ret)
{
	struct imp_error *err = check_writable(store);
	if (err)
		return err;
	struct pending pending;
	err = pending_write(store, item, source, &pending);
	if (err)
		return err;
	_cleanup_close_ int lock = -1;
	err = pending_sync(store, &pending);
	if (!err)
		err = store_lock(store, LOCK_ADD, &lock);
	struct entry_name name = pending_entry(&pending);
	struct shard_dirs dirs = { -1, -1 };
	if (!err)
		err = shard_dirs_open(store, &name, &dirs);
	if (!err)
		err = pending_publish(store, &dirs, &pending, ret);
	if (!err)
		err = pending_note(store, &pending, 1);
	if (!err)
		err = sync_name(store, &pending);
	shard_dirs_fini(&dirs);
	pending_fini(store, &pending);
	return err;
}

struct imp_error *store_add_fd(struct store *store, const struct store_item *item, int fd,
			       struct store_added *ret)
{
	return add(store, item, &(struct source){ .fd = fd }, ret);
}

struct imp_error *store_add_file(struct store *store, const struct store_item *item,
				 const char *file, struct store_added *ret)
{
	// O_NONBLOCK: opening a FIFO must not hang; store_add_fd() refuses it.
	_cleanup_close_ int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", file);
	return store_add_fd(store, item, fd, ret);
}

struct imp_error *store_add_memory(struct store *store, const struct store_item *item,
				   const void *bytes, size_t size, struct store_added *ret)
{
	return add(store, item, &(struct source){ .fd = -1, .bytes = bytes, .size = size }, ret);
}

static bool has_object(const struct store_objects *objects, const struct store_hash *hash)
{
	for (size_t i = 0; i < objects->count; i++)
		if (store_hash_equal(&objects->items[i].hash, hash))
			return true;
	return false;
}

// The line is of a file with this STAMP, and what was read from it is in the store still.
static bool line_knows(struct store *store, const struct journal_line *line, const char *path,
		       const struct file_stamp *stamp)
{
	if (line->kind != 's' || !file_stamp_equal(&line->stamp, stamp) ||
	    strcmp(line->path ? line->path : "", path ? path : "") != 0)
		return false;
	_cleanup_close_ int entry = store_entry_open(store, &line->entry, false);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	_cleanup_error_ struct imp_error *err =
		entry < 0 ? NULL : entry_objects(entry, &line->entry, &objects);
	if (err || !has_object(&objects, &line->hash))
		return false;
	entry_touch(entry);
	return true;
}

static bool journal_knows(struct store *store, const struct journal *journal, const char *path,
			  const struct stat *stat)
{
	struct file_stamp stamp = file_stamp_of(stat);
	for (size_t i = journal->count; i > 0; i--)
		if (line_knows(store, &journal->items[i - 1], path, &stamp))
			return true;
	return false;
}

bool store_knows_file(struct store *store, const struct store_item *item, const struct stat *stat)
{
	if (build_id_is_none(&item->id))
		return false;
	struct entry_name name = entry_name_of(&item->id, NULL);
	_cleanup_journal_ struct journal journal = { 0 };
	_cleanup_error_ struct imp_error *err = journal_read_entry(store, &name, &journal);
	return !err && journal_knows(store, &journal, item->path, stat);
}

bool store_knows_path(struct store *store, const char *path, const struct stat *stat)
{
	_cleanup_journal_ struct journal journal = { 0 };
	_cleanup_error_ struct imp_error *err = journal_read_path(store, path, &journal);
	return !err && journal_knows(store, &journal, path, stat);
}

enum {
	// What a batch gathers before it commits by itself.
	BATCH_FILES = 16384,
	BATCH_BYTES = 256 << 20,
};

struct store_batch {
	struct store *store;
	pthread_mutex_t mutex;
	ARRAY_OF(struct pending) pending;
	uint64_t bytes;
	struct store_batch_counts counts;
};

struct imp_error *store_batch_new(struct store *store, struct store_batch **ret)
{
	struct imp_error *err = check_writable(store);
	struct store_batch *batch = err ? NULL : calloc(1, sizeof *batch);
	if (!err && !batch)
		err = &imp_error_no_memory;
	if (err)
		return err;
	batch->store = store;
	(void)pthread_mutex_init(&batch->mutex, NULL);
	*ret = batch;
	return NULL;
}

// What has gathered, taken out of the batch.
struct gathered {
	struct store_batch *batch;
	ARRAY_OF(struct pending);
	// Where those begin whose entries stand in one directory.
	struct {
		ARRAY_OF(size_t);
	} shards;
};

// One call for the whole file system is cheaper than one for each of many files, dearer for few.
enum { FEW = 8 };

static struct imp_error *sync_all(struct store *store, const struct gathered *gathered)
{
	if (store->is_transient)
		return NULL;
	size_t written = 0;
	for (size_t i = 0; i < gathered->count; i++)
		written += gathered->items[i].tmp_name[0] != 0;
	if (written > FEW) {
		if (syncfs(store->root) < 0)
			return error_system(errno, "%s: cannot make files durable", store->dir);
		return NULL;
	}
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < gathered->count; i++)
		err = pending_sync(store, &gathered->items[i]);
	return err;
}

// The same for the names, once there are any.
static struct imp_error *sync_names(struct store *store, const struct gathered *gathered)
{
	size_t named = 0;
	for (size_t i = 0; i < gathered->count; i++)
		named += gathered->items[i].is_published && gathered->items[i].is_new;
	if (named > FEW && !store->is_transient && syncfs(store->root) < 0)
		return error_system(errno, "%s: cannot make names durable", store->dir);
	struct imp_error *err = NULL;
	for (size_t i = 0; named <= FEW && !err && i < gathered->count; i++)
		err = sync_name(store, &gathered->items[i]);
	return err;
}

static void count_added(struct store_batch *batch, const struct store_added *added)
{
	struct store_batch_counts *counts = &batch->counts;
	pthread_mutex_lock(&batch->mutex);
	if (added->is_new) {
		counts->added++;
		counts->added_bytes += added->size_bytes;
	} else {
		counts->known++;
	}
	if (added->is_new && added->is_collision)
		counts->collisions++;
	pthread_mutex_unlock(&batch->mutex);
}

static int compare_pending(const void *left, const void *right)
{
	struct entry_name a = pending_entry(left);
	struct entry_name b = pending_entry(right);
	return a.is_hash != b.is_hash ? a.is_hash - b.is_hash : strcmp(a.text, b.text);
}

static bool is_same_shard(const struct pending *left, const struct pending *right)
{
	struct entry_name a = pending_entry(left);
	struct entry_name b = pending_entry(right);
	return a.is_hash == b.is_hash && !strncmp(a.text, b.text, 2);
}

// Sorts what has gathered, and says where each shard of it begins; one more is the end.
static struct imp_error *find_shards(struct gathered *gathered)
{
	if (gathered->count)
		qsort(gathered->items, gathered->count, sizeof *gathered->items, compare_pending);
	if (!array_reserve(&gathered->shards, gathered->count + 1))
		return &imp_error_no_memory;
	for (size_t i = 0; i < gathered->count; i++)
		if (!i || !is_same_shard(&gathered->items[i - 1], &gathered->items[i]))
			gathered->shards.items[gathered->shards.count++] = i;
	gathered->shards.items[gathered->shards.count] = gathered->count;
	return NULL;
}

static struct imp_error *publish_shard(void *arg, unsigned worker, size_t piece)
{
	(void)worker;
	struct gathered *gathered = arg;
	struct store *store = gathered->batch->store;
	size_t first = gathered->shards.items[piece];
	size_t end = gathered->shards.items[piece + 1];
	struct entry_name name = pending_entry(&gathered->items[first]);
	struct shard_dirs dirs = { -1, -1 };
	struct imp_error *err = shard_dirs_open(store, &name, &dirs);
	for (size_t i = first; !err && i < end; i++) {
		struct store_added added = { 0 };
		err = pending_publish(store, &dirs, &gathered->items[i], &added);
		if (!err)
			count_added(gathered->batch, &added);
	}
	shard_dirs_fini(&dirs);
	return err;
}

static struct imp_error *publish_all(struct gathered *gathered)
{
	enum { MANY = 64 };
	struct store *store = gathered->batch->store;
	_cleanup_close_ int lock = -1;
	struct imp_error *err = sync_all(store, gathered);
	if (!err)
		err = find_shards(gathered);
	if (!err)
		err = store_lock(store, LOCK_ADD, &lock);
	if (err)
		return err;
	err = parallel_run(gathered->count > MANY ? parallel_workers(0) : 1, gathered->shards.count,
			   publish_shard, gathered);
	// What is published is noted whatever happened to the rest.
	struct imp_error *unnoted = pending_note(store, gathered->items, gathered->count);
	if (!unnoted)
		unnoted = sync_names(store, gathered);
	if (err)
		imp_error_free(unnoted);
	return err ? err : unnoted;
}

// Publishes what has gathered; all of it is given back in any case. Called with the mutex held,
// which is let go meanwhile.
static struct imp_error *flush(struct store_batch *batch)
{
	struct gathered gathered = { .batch = batch };
	gathered.items = batch->pending.items;
	gathered.count = batch->pending.count;
	batch->pending.items = NULL;
	batch->pending.count = batch->pending.room = 0;
	batch->bytes = 0;
	pthread_mutex_unlock(&batch->mutex);
	struct imp_error *err = publish_all(&gathered);
	for (size_t i = 0; i < gathered.count; i++)
		pending_fini(batch->store, &gathered.items[i]);
	free(gathered.items);
	array_fini(&gathered.shards);
	pthread_mutex_lock(&batch->mutex);
	return err;
}

static struct imp_error *batch_add(struct store_batch *batch, const struct store_item *item,
				   const struct source *source)
{
	struct pending pending;
	struct imp_error *err = pending_write(batch->store, item, source, &pending);
	if (err)
		return err;
	pthread_mutex_lock(&batch->mutex);
	struct pending *slot = array_add(&batch->pending);
	if (slot) {
		*slot = pending;
		batch->bytes += pending.size_bytes;
		if (batch->pending.count >= BATCH_FILES || batch->bytes >= BATCH_BYTES)
			err = flush(batch);
	} else {
		pending_fini(batch->store, &pending);
		err = &imp_error_no_memory;
	}
	pthread_mutex_unlock(&batch->mutex);
	return err;
}

struct imp_error *store_batch_add_fd(struct store_batch *batch, const struct store_item *item,
				     int fd)
{
	return batch_add(batch, item, &(struct source){ .fd = fd });
}

struct imp_error *store_batch_add_memory(struct store_batch *batch, const struct store_item *item,
					 const void *bytes, size_t size)
{
	return batch_add(batch, item, &(struct source){ .fd = -1, .bytes = bytes, .size = size });
}

void store_batch_free(struct store_batch *batch)
{
	if (!batch)
		return;
	for (size_t i = 0; i < batch->pending.count; i++)
		pending_fini(batch->store, &batch->pending.items[i]);
	array_fini(&batch->pending);
	(void)pthread_mutex_destroy(&batch->mutex);
	free(batch);
}

struct imp_error *store_batch_commit(struct store_batch *batch, struct store_batch_counts *counts)
{
	pthread_mutex_lock(&batch->mutex);
	struct imp_error *err = flush(batch);
	pthread_mutex_unlock(&batch->mutex);
	if (counts)
		*counts = batch->counts;
	store_batch_free(batch);
	return err;
}
