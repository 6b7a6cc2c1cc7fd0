// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Taking entries out, and clearing what interrupted writers left.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "store/beneath.h"
#include "store/packed.h"
#include "store/root.h"
#include "store/view.h"

// Removes the file NAME in tmp, or the entry of that name with what is in it.
static bool remove_in_tmp(struct store *store, const char *name)
{
	if (!unlinkat(store->tmp, name, 0))
		return true;
	_cleanup_close_ int fd = beneath_open_dir(store->tmp, name, false);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : open_listing(fd);
	if (!dir)
		return false;
	for (struct dirent *file; (file = readdir(dir));)
		(void)unlinkat(fd, file->d_name, 0);
	return !unlinkat(store->tmp, name, AT_REMOVEDIR);
}

enum { PIN_SIZE = BUILD_ID_TEXT_SIZE + 16 };

static void pin_of(const struct entry_name *name, char *path)
{
	(void)snprintf(path, PIN_SIZE, "pins/%s", name->text);
}

bool entry_is_pinned(struct store *store, const struct entry_name *name)
{
	char pin[PIN_SIZE];
	pin_of(name, pin);
	return !faccessat(store->home, pin, F_OK, AT_SYMLINK_NOFOLLOW);
}

// What is taken out leaves nothing behind. Another entry of the same content loses them as well,
// which costs time, no more.
static void remove_copies(struct store *store, const struct entry_name *name)
{
	_cleanup_close_ int entry = store_entry_open(store, name, false);
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	_cleanup_error_ struct imp_error *err = entry < 0 ? NULL
							  : entry_objects(entry, name, &objects);
	for (size_t i = 0; !err && i < objects.count; i++)
		packed_remove_all(store, &objects.items[i].hash);
}

struct imp_error *entry_remove(struct store *store, const struct entry_name *name)
{
	struct tmp_name tmp = tmp_name_new();
	struct entry_dir dir = entry_dir_of(name);
	const char *last;
	remove_copies(store, name);
	_cleanup_close_ int parent = beneath_open_parent(store->root, dir.text, false, &last);
	if (parent < 0 || renameat(parent, last, store->tmp, tmp.text) < 0)
		return error_system(errno, "%s: cannot take %s out", store->dir, name->text);
	view_remove(store, name);
	(void)remove_in_tmp(store, tmp.text);
	char pin[PIN_SIZE];
	pin_of(name, pin);
	(void)unlinkat(store->home, pin, 0);
	dir.text[last - dir.text - 1] = 0;
	beneath_prune(store->root, dir.text);
	return NULL;
}

static struct imp_error *open_entry(struct store *store, const struct entry_name *name, int *ret)
{
	*ret = store_entry_open(store, name, false);
	if (*ret >= 0 || errno == ENOENT)
		return NULL;
	return error_system(errno, "%s: cannot open the entry %s", store->dir, name->text);
}

struct imp_error *store_remove(struct store *store, const struct build_id *id,
			       const struct store_hash *hash, bool *found)
{
	struct entry_name name = entry_name_of(id, hash);
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(store, LOCK_ALONE, &lock);
	_cleanup_close_ int entry = -1;
	if (!err)
		err = open_entry(store, &name, &entry);
	bool is_there = entry >= 0;
	if (!err && is_there)
		err = entry_remove(store, &name);
	if (!err)
		*found = is_there;
	return err;
}

struct imp_error *store_pin(struct store *store, const struct build_id *id, bool is_pinned,
			    bool *found)
{
	struct entry_name name = entry_name_of(id, NULL);
	_cleanup_close_ int lock = -1;
	struct imp_error *err = store_lock(store, LOCK_ADD, &lock);
	_cleanup_close_ int entry = -1;
	if (!err)
		err = open_entry(store, &name, &entry);
	if (err)
		return err;
	*found = entry >= 0;
	if (!*found)
		return NULL;
	char pin[PIN_SIZE];
	pin_of(&name, pin);
	if (!is_pinned) {
		if (unlinkat(store->home, pin, 0) < 0 && errno != ENOENT)
			return error_system(errno, "%s: cannot unpin", name.text);
		return NULL;
	}
	_cleanup_close_ int fd =
		openat(store->home, pin, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? error_system(errno, "%s: cannot pin", name.text) : NULL;
}

// Without the lock, only what is older than any addition takes is surely left over.
static bool is_old(struct store *store, const char *name)
{
	enum { DAY = 24 * 3600 };
	struct stat stat;
	return !fstatat(store->tmp, name, &stat, AT_SYMLINK_NOFOLLOW) &&
	       time(NULL) - stat.st_ctim.tv_sec > DAY;
}

void leftovers_remove(struct store *store, size_t *count)
{
	bool is_alone = !flock(store->tmp, LOCK_EX | LOCK_NB);
	_cleanup_dir_ DIR *dir = open_listing(store->tmp);
	for (struct dirent *file; dir && (file = readdir(dir));) {
		if (!strcmp(file->d_name, ".") || !strcmp(file->d_name, ".."))
			continue;
		if ((is_alone || is_old(store, file->d_name)) && remove_in_tmp(store, file->d_name))
			++*count;
	}
	// A failed try has given the shared lock up as well.
	(void)flock(store->tmp, LOCK_SH);
}
