// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint's own store as a source.
#include "find/search.h"
#include "store/store.h"

// Tries the objects of ROLE under ID, the best first, until one is taken.
static struct imp_error *try_role(struct search *search, const struct build_id *id,
				  enum store_role role)
{
	struct store *store = search->finder->store;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct store_query query = { .id = *id, .role = role, .path = search->image->path };
	struct imp_error *err = store_find(store, &query, &objects);
	for (size_t i = 0; i < objects.count && !err; i++) {
		size_t before = search->steps.count;
		_cleanup_free_ char *place = store_object_path(store, &objects.items[i]);
		int fd;
		if (!place)
			return &imp_error_no_memory;
		err = store_object_open(store, &objects.items[i], &fd);
		if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
			imp_error_free(err);
			err = search_note(search, place, FIND_UNREADABLE, NULL, "damaged");
			continue;
		}
		if (!err)
			err = search_try_fd(search, fd, place);
		if (!err && search->steps.items[before].outcome == FIND_MATCH)
			break;
	}
	return err;
}

struct imp_error *look_in_store(struct search *search)
{
	struct store *store = search->finder->store;
	struct imp_error *err = NULL;
	size_t before = search->steps.count;
	if (!store)
		return NULL;
	for (size_t i = 0; i < search->id_count && !err; i++) {
		if (!search->finding->image)
			err = try_role(search, &search->ids[i], STORE_EXECUTABLE);
		if (!err && search->rank < RANK_DWARF)
			err = try_role(search, &search->ids[i], STORE_DEBUG);
	}
	if (!err && search->steps.count == before)
		err = search_note(search, store_dir(store), FIND_ABSENT, NULL, NULL);
	return err;
}
