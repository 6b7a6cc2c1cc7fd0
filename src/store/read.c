// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening objects: whole the first time, unchanged since the other times; damaged ones are set
// aside.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/beneath.h"
#include "store/journal.h"
#include "store/root.h"
#include "store/view.h"

char *store_object_path(const struct store *store, const struct store_object *object)
{
	struct entry_name name = entry_name_of(&object->id, &object->hash);
	char *path = NULL;
	if (asprintf(&path, "%s/%s/%s", store->dir, entry_dir_of(&name).text,
		     object_name_of(object).text) < 0)
		return NULL;
	return path;
}

// A second name given or taken moves ctime, which therefore says nothing here.
static bool is_untouched(const struct file_stamp *then, const struct file_stamp *now)
{
	return then->inode == now->inode && then->size == now->size &&
	       then->mtime_ns == now->mtime_ns;
}

// A line says that exactly this inode, unchanged since, was found whole.
static struct imp_error *is_verified(struct store *store, const struct entry_name *name,
				     const struct store_object *object,
				     const struct file_stamp *stamp, bool *ret)
{
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = journal_read_entry(store, name, &journal);
	*ret = false;
	for (size_t i = journal.count; !err && i > 0 && !*ret; i--) {
		const struct journal_line *line = &journal.items[i - 1];
		*ret = line->kind == 'v' && store_hash_equal(&line->hash, &object->hash) &&
		       is_untouched(&line->stamp, stamp);
	}
	return err;
}

struct imp_error *object_set_aside(struct store *store, int entry, const struct entry_name *name,
				   const struct store_object *object)
{
	struct object_name from = object_name_of(object);
	char to[2 * OBJECT_NAME_SIZE];
	(void)snprintf(to, sizeof to, "%s-%.40s", from.text, name->text);
	_cleanup_close_ int damaged = beneath_open_dir(store->home, "damaged", false);
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(store, LOCK_ALONE, &lock);
	if (err)
		return err;
	if (damaged < 0 || renameat(entry, from.text, damaged, to) < 0)
		return error_system(errno, "%s: cannot set %s aside", store->dir, from.text);
	log_message(store->log, LOG_WARNING, "%s: damaged, set aside as .imprint/damaged/%s",
		    store->dir, to);
	_cleanup_store_objects_ struct store_objects left = { 0 };
	err = entry_objects(entry, name, &left);
	return err ? err : view_update(store, name, entry, &left, NULL, false);
}

static struct imp_error *verify_bytes(struct store *store, int fd, const char *path,
				      const struct store_object *object)
{
	struct store_hash hash;
	uint64_t size;
	struct imp_error *err = store_hash_fd(store, fd, path, &hash, &size);
	if (err || store_hash_equal(&hash, &object->hash))
		return err;
	return error_new(IMP_ERR_BAD_DATA, "%s: damaged: its content hash is %.12s…", path,
			 store_hash_text(&hash).text);
}

static struct imp_error *verify_once(struct store *store, int entry, int fd, const char *path,
				     const struct store_object *object)
{
	struct stat stat;
	if (fstat(fd, &stat) < 0)
		return error_system(errno, "%s: cannot stat", path);
	struct entry_name name = entry_name_of(&object->id, &object->hash);
	struct file_stamp stamp = file_stamp_of(&stat);
	bool verified;
	struct imp_error *err = is_verified(store, &name, object, &stamp, &verified);
	if (err || verified)
		return err;
	err = verify_bytes(store, fd, path, object);
	if (err && imp_error_code(err) == IMP_ERR_BAD_DATA && store->mode == STORE_WRITE) {
		_cleanup_error_ struct imp_error *second =
			object_set_aside(store, entry, &name, object);
		return second ? err : error_context(err, "set aside");
	}
	if (err || store->mode != STORE_WRITE)
		return err;
	struct journal_line line = { .kind = 'v',
				     .time_s = time(NULL),
				     .entry = name,
				     .role = object->role,
				     .rank = object->rank,
				     .hash = object->hash,
				     .stamp = stamp };
	// Not being able to note it costs a second look, no more.
	imp_error_free(journal_append(store, &line, 1));
	return NULL;
}

struct imp_error *store_object_open(struct store *store, const struct store_object *object,
				    int *ret)
{
	_cleanup_free_ char *path = store_object_path(store, object);
	if (!path)
		return &imp_error_no_memory;
	struct entry_name name = entry_name_of(&object->id, &object->hash);
	_cleanup_close_ int entry = store_entry_open(store, &name, false);
	_cleanup_close_ int fd = entry < 0 ? -1
					   : openat(entry, object_name_of(object).text,
						    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	struct imp_error *err = verify_once(store, entry, fd, path, object);
	if (err)
		return err;
	entry_touch(entry);
	*ret = steal_fd(&fd);
	return NULL;
}
