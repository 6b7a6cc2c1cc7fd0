// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing objects: to a temporary file while hashing, made durable, then under their name.
#ifndef STORE_OBJECT_H
#define STORE_OBJECT_H

#include "store/journal.h"
#include "store/root.h"

// An object that is written but has no name yet.
struct pending {
	struct build_id id;
	enum store_role role;
	enum store_rank rank;
	// Owned; NULL: not known.
	char *path;
	// Of the file the bytes came from; inode 0 when from memory.
	struct file_stamp source;
	struct store_hash hash;
	uint64_t size_bytes;
	// In the store's tmp; "" when the store has the object already, or once it is published.
	char tmp_name[24];
	mode_t mode;
	// Of the temporary file, which is the object's.
	struct file_stamp stamp;
	bool is_published;
	bool is_new;
	bool is_collision;
};

// Gives back what PENDING owns, its temporary file too.
void pending_fini(struct store *store, struct pending *pending);

// Where the bytes come from: an open file or memory.
struct source {
	int fd;
	const void *bytes;
	size_t size;
};

// Copies SOURCE to a temporary file, unless the store has these bytes under this ID already.
// Nothing is visible yet.
struct imp_error *pending_write(struct store *store, const struct store_item *item,
				const struct source *source, struct pending *ret) MUST_CHECK;

// Makes the bytes of one pending object durable.
struct imp_error *pending_sync(struct store *store, const struct pending *pending) MUST_CHECK;

struct entry_name pending_entry(const struct pending *pending);

// Gives the object its name in its entry, which is in DIRS, and the names for other tools. The
// temporary file is gone then. Called under LOCK_ADD.
struct imp_error *pending_publish(struct store *store, const struct shard_dirs *dirs,
				  struct pending *pending, struct store_added *ret) MUST_CHECK;

// What the journals are to have of COUNT objects, those that are published.
struct imp_error *pending_note(struct store *store, const struct pending *pendings,
			       size_t count) MUST_CHECK;

#endif
