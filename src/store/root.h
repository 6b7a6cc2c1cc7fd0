// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What an open store is, for the files of this room: its directories and its lock.
#ifndef STORE_ROOT_H
#define STORE_ROOT_H

#include <stdatomic.h>

#include "base/late/late_crypto.h"
#include "store/layout.h"

struct store {
	char *dir;
	const struct log *log;
	enum store_mode mode;
	// The store's directory, and .imprint in it.
	int root;
	int home;
	// .imprint/tmp, where files are written; -1 when the store is only read.
	int tmp;
	// Found by the first who hashes.
	_Atomic(EVP_MD *) sha256;
	bool is_transient;
	// The file system was found to have no clones of files.
	atomic_bool has_no_clones;
};

enum lock_kind {
	// Many may add at once.
	LOCK_ADD,
	// Alone: objects or links are taken away.
	LOCK_ALONE,
};

// Waits for the lock, which is held until *ret is closed (or the process dies).
struct imp_error *store_lock(struct store *store, enum lock_kind kind, int *ret) MUST_CHECK;

// Gives back what hashing needed.
void store_digest_fini(struct store *store);

// The SHA-256 of FD from its beginning to its end, and how many bytes that were.
struct imp_error *store_hash_fd(struct store *store, int fd, const char *path,
				struct store_hash *ret, uint64_t *size) MUST_CHECK;

// Opens the entry NAME; -1 and errno ENOENT when there is none. MAKE makes it.
int store_entry_open(struct store *store, const struct entry_name *name, bool make);

// The open directories in which the entries stand whose names begin with the same byte, and their
// names as executables; the latter is -1 where there are none.
struct shard_dirs {
	int entries;
	int executables;
};

// Opens those of NAME, and makes them.
struct imp_error *shard_dirs_open(struct store *store, const struct entry_name *name,
				  struct shard_dirs *ret) MUST_CHECK;
void shard_dirs_fini(struct shard_dirs *dirs);

// Opens the entry NAME in DIRS and makes it, *is_fresh says whether. -1 and errno on failure.
int entry_make(struct store *store, const struct shard_dirs *dirs, const struct entry_name *name,
	       bool *is_fresh);

// Says that the entry ENTRY was used, unless that was said within the hour. Failing is no matter.
void entry_touch(int entry);
int64_t entry_used_s(int entry);

bool entry_is_pinned(struct store *store, const struct entry_name *name);

// Appends the objects of the entry ENTRY to RET, the best first.
struct imp_error *entry_objects(int entry, const struct entry_name *name,
				struct store_objects *ret) MUST_CHECK;

// Moves a damaged object out of the way; other tools then see what is left.
struct imp_error *object_set_aside(struct store *store, int entry, const struct entry_name *name,
				   const struct store_object *object) MUST_CHECK;

// Takes the entry NAME away: at once for all who look, then its other names, then its bytes. Called
// under LOCK_ALONE.
struct imp_error *entry_remove(struct store *store, const struct entry_name *name) MUST_CHECK;

// Removes what writers that are gone left in tmp, and adds their number to *count.
void leftovers_remove(struct store *store, size_t *count);

// A directory stream over the directory FD, which stays the caller's; NULL and errno on failure.
DIR *open_listing(int fd);

// Whether A comes before B where nothing else decides: rank, then age, then hash.
bool object_is_better(const struct store_object *a, const struct store_object *b);

#endif
