// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What other tools see of an entry: its best objects under their names, in their places.
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include "store/root.h"

// Gives the best of OBJECTS, which are in the entry NAME (open at ENTRY), the names that perf, gdb,
// elfutils and LLVM look for, and takes away names that nothing bears any more. Called under the
// lock. DIRS are those of NAME, or NULL. IS_FRESH says that the entry was empty before, so that
// there is nothing to take away.
struct imp_error *view_update(struct store *store, const struct entry_name *name, int entry,
			      const struct store_objects *objects, const struct shard_dirs *dirs,
			      bool is_fresh) MUST_CHECK;

// Removes the names outside the entry.
void view_remove(struct store *store, const struct entry_name *name);

// Removes the names outside of entries whose entries are gone or have other files now, and adds
// their number to *count. Called under LOCK_ALONE.
void view_sweep(struct store *store, size_t *count);

#endif
