// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A store elsewhere as a source: what it has goes into the own store, and is taken from there.
#include "find/search.h"
#include "store/store.h"

struct imp_error *look_in_remote(struct search *search)
{
	const struct finder_remote *remote = &search->finder->options.remote;
	struct store *store = search->finder->store;
	struct imp_error *err = NULL;
	if (!remote->pull || !store)
		return NULL;
	for (size_t i = 0; i < search->id_count && !err; i++) {
		enum find_outcome outcome = FIND_ABSENT;
		const char *detail = NULL;
		const struct find_wanted wanted = { .id = &search->ids[i],
						    .image = !search->finding->image,
						    .debug = search->rank < RANK_DWARF };
		err = remote->pull(remote->arg, &wanted, store, &outcome, &detail);
		if (!err && outcome == FIND_MATCH)
			return look_in_store(search);
		if (!err)
			err = search_note(search, remote->name, outcome, NULL, detail);
	}
	return err;
}
