// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the store keeps already, where its journal of files cannot tell: compared, not hashed again.
#ifndef RECORD_KEPT_H
#define RECORD_KEPT_H

#include "store/store.h"

// Anything of this role under ID.
bool kept_role(struct store *store, const struct build_id *id, enum store_role role);

// An executable under ID whose bytes are those of FD, SIZE of them. For files without a name (in
// memory, or deleted): each has an inode that was never seen before.
bool kept_bytes(struct store *store, const struct build_id *id, int fd, uint64_t size);

// A table of modules under the kernel's ID that has the same modules at the same places as TEXT
// (/proc/modules, SIZE bytes), whatever uses them.
bool kept_modules(struct store *store, const struct build_id *id, const char *text, size_t size);

#endif
