// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The way of an object into the store.
#include "store/object.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/file.h"
#include "store/beneath.h"
#include "store/digest.h"
#include "store/view.h"

void pending_fini(struct store *store, struct pending *pending)
{
	if (pending->tmp_name[0])
		(void)unlinkat(store->tmp, pending->tmp_name, 0);
	free(pending->path);
	*pending = (struct pending){ 0 };
}

// What a kernel tells of its addresses is for root, and so are files that others cannot read.
static mode_t object_mode(enum store_role role, const struct stat *stat)
{
	if (role == STORE_KALLSYMS || role == STORE_MODULES || role == STORE_KCORE_NOTES)
		return 0400;
	return 0400 | (stat ? stat->st_mode & 0444 : 0444);
}

// True, with PENDING's hash, when one of the entry's objects of this size has the bytes of SOURCE.
static struct imp_error *find_same(struct store *store, const struct source *source,
				   struct pending *pending, bool *found)
{
	*found = false;
	if (build_id_is_none(&pending->id))
		return NULL;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = store_find_all(store, &pending->id, &objects);
	bool is_hashed = false;
	for (size_t i = 0; !err && i < objects.count && !*found; i++) {
		if (objects.items[i].size_bytes != pending->size_bytes)
			continue;
		if (!is_hashed)
			err = source->fd >= 0 ? store_hash_fd(store, source->fd, "file",
							      &pending->hash, &pending->size_bytes)
					      : digest_memory(store, source->bytes, source->size,
							      &pending->hash);
		is_hashed = true;
		*found = !err && store_hash_equal(&pending->hash, &objects.items[i].hash);
	}
	return err;
}

static struct imp_error *write_source(struct store *store, const struct source *source, int out,
				      struct pending *pending)
{
	if (source->fd < 0) {
		struct imp_error *err =
			digest_memory(store, source->bytes, source->size, &pending->hash);
		return err ? err : file_write(out, store->dir, source->bytes, source->size);
	}
	// A clone shares the blocks and is of one moment; the hash is then that of the clone.
	if (!store->has_no_clones && !ioctl(out, FICLONE, source->fd))
		return digest_fd(store, out, store->dir, -1, &pending->hash, &pending->size_bytes);
	if (errno == EOPNOTSUPP || errno == ENOTTY)
		store->has_no_clones = true;
	return digest_fd(store, source->fd, "file", out, &pending->hash, &pending->size_bytes);
}

// The mode asked for at creation is less what the umask hides.
static struct imp_error *finish_file(struct store *store, int out, struct pending *pending)
{
	struct stat stat;
	if (fstat(out, &stat) < 0)
		return error_system(errno, "%s: cannot stat", store->dir);
	pending->stamp = file_stamp_of(&stat);
	if ((stat.st_mode & 07777) != pending->mode && fchmod(out, pending->mode) < 0)
		return error_system(errno, "%s: cannot set the mode of a file", store->dir);
	return NULL;
}

static struct imp_error *copy_source(struct store *store, const struct source *source,
				     struct pending *pending)
{
	struct tmp_name name = tmp_name_new();
	_cleanup_close_ int out = openat(store->tmp, name.text,
					 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					 pending->mode);
	if (out < 0)
		return error_system(errno, "%s: cannot create a file", store->dir);
	memcpy(pending->tmp_name, name.text, sizeof name.text);
	struct imp_error *err = write_source(store, source, out, pending);
	return err ? err : finish_file(store, out, pending);
}

// IMP_ERR_SYSTEM when the file behind FD is not the one of STAMP any more.
static struct imp_error *check_unchanged(int fd, const struct file_stamp *stamp)
{
	struct stat stat;
	if (fstat(fd, &stat) < 0)
		return error_system(errno, "cannot stat");
	struct file_stamp now = file_stamp_of(&stat);
	// The count of links and the mode may change (which moves ctime): the bytes count.
	if (now.size == stamp->size && now.mtime_ns == stamp->mtime_ns)
		return NULL;
	return error_new(IMP_ERR_SYSTEM, "changed while it was read");
}

static struct imp_error *pending_begin(const struct store_item *item, const struct source *source,
				       struct pending *ret)
{
	*ret = (struct pending){
		.id = item->id, .role = item->role, .rank = item->rank, .size_bytes = source->size
	};
	if (item->path && !(ret->path = strdup(item->path)))
		return &imp_error_no_memory;
	if (source->fd < 0) {
		if (item->source)
			ret->source = file_stamp_of(item->source);
		ret->mode = object_mode(item->role, item->source);
		return NULL;
	}
	struct stat stat;
	if (fstat(source->fd, &stat) < 0)
		return error_system(errno, "cannot stat");
	if (!S_ISREG(stat.st_mode))
		return error_new(IMP_ERR_USAGE, "not a regular file");
	ret->source = file_stamp_of(&stat);
	ret->size_bytes = ret->source.size;
	ret->mode = object_mode(item->role, &stat);
	return NULL;
}

struct imp_error *pending_write(struct store *store, const struct store_item *item,
				const struct source *source, struct pending *ret)
{
	struct pending pending;
	struct imp_error *err = pending_begin(item, source, &pending);
	bool found = false;
	if (!err)
		err = find_same(store, source, &pending, &found);
	if (!err && !found)
		err = copy_source(store, source, &pending);
	if (!err && source->fd >= 0)
		err = check_unchanged(source->fd, &pending.source);
	if (err) {
		pending_fini(store, &pending);
		return error_context(err, "%s", item->path ? item->path : "file");
	}
	*ret = pending;
	return NULL;
}

struct imp_error *pending_sync(struct store *store, const struct pending *pending)
{
	if (!pending->tmp_name[0] || store->is_transient)
		return NULL;
	_cleanup_close_ int fd =
		openat(store->tmp, pending->tmp_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fdatasync(fd) < 0)
		return error_system(errno, "%s: cannot make a file durable", store->dir);
	return NULL;
}

static struct store_object pending_object(const struct pending *pending)
{
	return (struct store_object){ .id = pending->id,
				      .role = pending->role,
				      .rank = pending->rank,
				      .hash = pending->hash,
				      .size_bytes = pending->size_bytes };
}

// Moves the temporary file to its place. Another may have put the same bytes there meanwhile, which
// is as good.
static struct imp_error *place(struct store *store, int entry, struct pending *pending)
{
	struct store_object object = pending_object(pending);
	struct object_name name = object_name_of(&object);
	if (renameat(store->tmp, pending->tmp_name, entry, name.text) < 0)
		return error_system(errno, "%s: cannot place %s", store->dir, name.text);
	pending->tmp_name[0] = 0;
	return NULL;
}

// The bytes are in the entry as OLD: under the better description of the two they stay.
static struct imp_error *describe_better(struct store *store, int entry,
					 const struct store_object *old,
					 const struct pending *pending)
{
	struct store_object better = *old;
	if (pending->role < old->role)
		better.role = pending->role;
	if (pending->rank > old->rank)
		better.rank = pending->rank;
	if (better.role == old->role && better.rank == old->rank)
		return NULL;
	struct object_name from = object_name_of(old);
	struct object_name to = object_name_of(&better);
	if (renameat(entry, from.text, entry, to.text) < 0)
		return error_system(errno, "%s: cannot rename %s", store->dir, from.text);
	return NULL;
}

// The object with the pending one's bytes, or NULL.
static const struct store_object *same_object(const struct store_objects *objects,
					      const struct pending *pending, bool *is_collision)
{
	const struct store_object *same = NULL;
	for (size_t i = 0; i < objects->count; i++) {
		const struct store_object *object = &objects->items[i];
		if (store_hash_equal(&object->hash, &pending->hash))
			same = object;
		else if (object->role == pending->role && object->rank == pending->rank &&
			 object->role != STORE_INDEX)
			*is_collision = true;
	}
	return same;
}

static struct imp_error *publish_in(struct store *store, int entry, const struct entry_name *name,
				    struct pending *pending, struct store_objects *objects)
{
	const struct store_object *same = same_object(objects, pending, &pending->is_collision);
	pending->is_new = !same;
	if (same) {
		struct imp_error *err = describe_better(store, entry, same, pending);
		objects->count = 0;
		return err ? err : entry_objects(entry, name, objects);
	}
	if (!pending->tmp_name[0])
		return error_new(IMP_ERR_SYSTEM, "taken out of the store while it was added");
	struct imp_error *err = place(store, entry, pending);
	struct store_object *slot = err ? NULL : array_add(objects);
	if (!slot)
		return err ? err : &imp_error_no_memory;
	*slot = pending_object(pending);
	slot->added_s = time(NULL);
	return NULL;
}

struct entry_name pending_entry(const struct pending *pending)
{
	return entry_name_of(&pending->id, &pending->hash);
}

struct imp_error *pending_publish(struct store *store, const struct shard_dirs *dirs,
				  struct pending *pending, struct store_added *ret)
{
	struct entry_name name = pending_entry(pending);
	bool is_fresh;
	_cleanup_close_ int entry = entry_make(store, dirs, &name, &is_fresh);
	if (entry < 0)
		return error_system(errno, "%s: cannot make the entry %s", store->dir, name.text);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = is_fresh ? NULL : entry_objects(entry, &name, &objects);
	if (!err)
		err = publish_in(store, entry, &name, pending, &objects);
	if (!err)
		err = view_update(store, &name, entry, &objects, dirs, is_fresh);
	if (err)
		return err;
	if (!is_fresh)
		entry_touch(entry);
	pending->is_published = true;
	if (ret)
		*ret = (struct store_added){ .hash = pending->hash,
					     .size_bytes = pending->size_bytes,
					     .is_new = pending->is_new,
					     .is_collision = pending->is_collision };
	return NULL;
}

struct imp_error *pending_note(struct store *store, const struct pending *pendings, size_t count)
{
	_cleanup_free_ struct journal_line *lines = calloc(2 * count + 1, sizeof *lines);
	if (!lines)
		return &imp_error_no_memory;
	size_t all = 0;
	int64_t now_s = time(NULL);
	for (size_t i = 0; i < count; i++) {
		const struct pending *pending = &pendings[i];
		if (!pending->is_published)
			continue;
		struct journal_line line = { .kind = 's',
					     .time_s = now_s,
					     .entry = pending_entry(pending),
					     .role = pending->role,
					     .rank = pending->rank,
					     .hash = pending->hash,
					     .stamp = pending->source,
					     .path = pending->path };
		lines[all++] = line;
		if (!pending->is_new)
			continue;
		line.kind = 'v';
		line.stamp = pending->stamp;
		line.path = NULL;
		lines[all++] = line;
	}
	return journal_append(store, lines, all);
}
