// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What other tools see of an entry: links by their names, in their places.
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include "store/root.h"

// An entry with its objects, open.
struct entry_view {
	const struct entry_name *name;
	int entry;
	const struct store_objects *objects;
};

// Sets the links for perf, gdb, elfutils and LLVM to the best objects. PATH (may be NULL) is where
// it was seen. Called under the lock.
struct imp_error *view_update(struct store *store, const struct entry_view *view,
			      const char *path) MUST_CHECK;

// Removes what view_update() made for PATH; and, when the entry is to go, what it made for the ID.
void view_remove_path(struct store *store, const struct entry_name *name, const char *path);
void view_remove(struct store *store, const struct entry_name *name);

#endif
