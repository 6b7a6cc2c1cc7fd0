// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening and making a store, and its lock.
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/file.h"
#include "store/beneath.h"
#include "store/root.h"

// Makes the directory DIR and what is missing above it. Links above it are the user's.
static struct imp_error *make_dirs(const char *dir)
{
	_cleanup_free_ char *path = strdup(dir);
	if (!path)
		return &imp_error_no_memory;
	for (char *at = path + (*path == '/'); *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		(void)mkdir(path, 0777);
		*at = '/';
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_system(errno, "%s: cannot make the directory", dir);
	return NULL;
}

static struct imp_error *write_version(struct store *store)
{
	struct tmp_name name = tmp_name_new();
	_cleanup_close_ int fd =
		openat(store->tmp, name.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_system(errno, "%s: cannot write in the store", store->dir);
	struct imp_error *err =
		file_write(fd, "version", LAYOUT_VERSION, sizeof LAYOUT_VERSION - 1);
	if (!err &&
	    (fdatasync(fd) < 0 || renameat(store->tmp, name.text, store->home, "version") < 0))
		err = error_system(errno, "%s: cannot write the version", store->dir);
	if (err)
		(void)unlinkat(store->tmp, name.text, 0);
	return err;
}

// *missing when there is no version file, which a store that was just begun has not yet.
static struct imp_error *check_version(struct store *store, bool *missing)
{
	_cleanup_close_ int fd = openat(store->home, "version", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	*missing = fd < 0 && errno == ENOENT;
	if (*missing)
		return NULL;
	if (fd < 0)
		return error_system(errno, "%s: cannot read the version", store->dir);
	char text[sizeof LAYOUT_VERSION + 1] = { 0 };
	size_t got;
	struct imp_error *err = file_read(fd, "version", text, sizeof text - 1, &got);
	if (!err && strcmp(text, LAYOUT_VERSION) != 0)
		err = error_new(IMP_ERR_UNSUPPORTED,
				"%s: a store of another version ('%.*s', expected '%.*s')",
				store->dir, (int)strcspn(text, "\n"), text,
				(int)sizeof LAYOUT_VERSION - 2, LAYOUT_VERSION);
	return err;
}

static struct imp_error *open_for_writing(struct store *store)
{
	static const char *const rooms[] = { "hashes", "journal", "paths",
					     "pins",   "packed",  "damaged" };
	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
		if (mkdirat(store->home, rooms[i], 0777) < 0 && errno != EEXIST)
			return error_system(errno, "%s: cannot make .imprint/%s", store->dir,
					    rooms[i]);
	store->tmp = beneath_open_dir(store->home, "tmp", true);
	if (store->tmp < 0)
		return error_system(errno, "%s: cannot make .imprint/tmp", store->dir);
	// Held as long as the store is open: whoever gets it alone knows that no writer is left
	// (leftovers_remove()). Some network file systems have no locks on directories.
	(void)flock(store->tmp, LOCK_SH);
	bool missing;
	struct imp_error *err = check_version(store, &missing);
	return err || !missing ? err : write_version(store);
}

static struct imp_error *open_dirs(struct store *store, bool *is_absent)
{
	bool is_writing = store->mode == STORE_WRITE;
	*is_absent = false;
	struct imp_error *err = is_writing ? make_dirs(store->dir) : NULL;
	if (err)
		return err;
	store->root = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*is_absent = !is_writing && store->root < 0 && (errno == ENOENT || errno == ENOTDIR);
	if (*is_absent)
		return NULL;
	if (store->root < 0)
		return error_system(errno, "%s: cannot open the store", store->dir);
	store->home = beneath_open_dir(store->root, LAYOUT_HOME, is_writing);
	*is_absent = !is_writing && store->home < 0 && errno == ENOENT;
	if (*is_absent)
		return NULL;
	if (store->home < 0)
		return error_system(errno, "%s: cannot open .imprint in the store", store->dir);
	return is_writing ? open_for_writing(store) : check_version(store, is_absent);
}

struct imp_error *store_open(const char *dir, enum store_mode mode, const struct log *log,
			     struct store **ret)
{
	_cleanup_store_ struct store *store = calloc(1, sizeof *store);
	if (!store)
		return &imp_error_no_memory;
	store->root = store->home = store->tmp = -1;
	store->mode = mode;
	store->log = log;
	store->dir = strdup(dir);
	if (!store->dir)
		return &imp_error_no_memory;
	bool is_absent;
	struct imp_error *err = open_dirs(store, &is_absent);
	if (!err)
		*ret = is_absent ? NULL : steal(store);
	return err;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	cleanup_close(&store->root);
	cleanup_close(&store->home);
	cleanup_close(&store->tmp);
	store_digest_fini(store);
	free(store->dir);
	free(store);
}

const char *store_dir(const struct store *store)
{
	return store->dir;
}

bool store_is_writable(const struct store *store)
{
	return store->mode == STORE_WRITE;
}

void store_set_transient(struct store *store)
{
	store->is_transient = true;
}

int store_spool(struct store *store)
{
	int fd = openat(store->tmp, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	// Network file systems have no O_TMPFILE.
	struct tmp_name name = tmp_name_new();
	fd = openat(store->tmp, name.text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd >= 0)
		(void)unlinkat(store->tmp, name.text, 0);
	return fd;
}

struct imp_error *store_lock(struct store *store, enum lock_kind kind, int *ret)
{
	// Of its own open file, so that threads and processes exclude each other alike.
	_cleanup_close_ int fd =
		openat(store->home, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_system(errno, "%s: cannot open the lock", store->dir);
	while (flock(fd, kind == LOCK_ADD ? LOCK_SH : LOCK_EX) < 0)
		if (errno != EINTR)
			return error_system(errno, "%s: cannot lock the store", store->dir);
	*ret = steal_fd(&fd);
	return NULL;
}

// perf may have been told to keep its own cache here, and has put its link where the entry goes.
// The link's own tree stays.
static bool remove_foreign_link(struct store *store, const char *path)
{
	const char *name;
	_cleanup_close_ int parent = beneath_open_parent(store->root, path, false, &name);
	char text[1];
	return parent >= 0 && readlinkat(parent, name, text, sizeof text) >= 0 &&
	       !unlinkat(parent, name, 0);
}

int store_entry_open(struct store *store, const struct entry_name *name, bool make)
{
	struct entry_dir dir = entry_dir_of(name);
	int fd = beneath_open_dir(store->root, dir.text, make);
	if (fd >= 0 || (errno != ELOOP && errno != ENOTDIR))
		return fd;
	if (make && remove_foreign_link(store, dir.text))
		return beneath_open_dir(store->root, dir.text, true);
	errno = make ? EEXIST : ENOENT;
	return -1;
}

struct imp_error *shard_dirs_open(struct store *store, const struct entry_name *name,
				  struct shard_dirs *ret)
{
	struct entry_dir dir = entry_dir_of(name);
	const char *last;
	struct shard_dirs dirs = { -1, -1 };
	dirs.entries = beneath_open_parent(store->root, dir.text, true, &last);
	bool is_open = dirs.entries >= 0;
	if (is_open && entry_has_places(name)) {
		char path[ENTRY_DIR_SIZE];
		(void)snprintf(path, sizeof path, "executables/.build-id/%.2s", name->text);
		dirs.executables = beneath_open_dir(store->root, path, true);
		is_open = dirs.executables >= 0;
	}
	if (!is_open) {
		struct imp_error *err = error_system(errno, "%s: cannot make the place of %s",
						     store->dir, name->text);
		shard_dirs_fini(&dirs);
		return err;
	}
	*ret = dirs;
	return NULL;
}

void shard_dirs_fini(struct shard_dirs *dirs)
{
	cleanup_close(&dirs->entries);
	cleanup_close(&dirs->executables);
}

int entry_make(struct store *store, const struct shard_dirs *dirs, const struct entry_name *name,
	       bool *is_fresh)
{
	struct entry_dir dir = entry_dir_of(name);
	const char *last = strrchr(dir.text, '/') + 1;
	*is_fresh = !mkdirat(dirs->entries, last, 0777);
	if (!*is_fresh)
		return store_entry_open(store, name, true);
	return openat(dirs->entries, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int64_t entry_used_s(int entry)
{
	struct stat stat;
	return fstat(entry, &stat) < 0 ? 0 : stat.st_mtim.tv_sec;
}

void entry_touch(int entry)
{
	enum { HOUR = 3600 };
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - entry_used_s(entry) < HOUR)
		return;
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, now };
	(void)futimens(entry, times);
}
