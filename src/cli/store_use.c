// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding the store and the entry that the user means.
#include "cli/store_use.h"

#include <stdio.h>
#include <string.h>

#include "cli/places.h"
#include "elf/elf_image.h"
#include "remote/address.h"

static const char hash_mark[] = "sha256-";

struct imp_error *store_use(const char *dir, enum store_mode mode, const struct log *log,
			    struct store **ret)
{
	_cleanup_free_ char *place = dir ? strdup(dir) : places_store();
	if (!place)
		return error_new(IMP_ERR_USAGE,
				 "no store is named: set HOME or IMPRINT_STORE, or give --store");
	if (remote_is_url(place))
		return error_new(IMP_ERR_USAGE,
				 "%s: a directory is expected; verbs that name code read through "
				 "a URL, and 'imprint store push' fills it",
				 place);
	struct store *store = NULL;
	struct imp_error *err = store_open(place, mode, log, &store);
	if (!err && !store)
		err = error_new(IMP_ERR_SYSTEM, "%s: no store; 'imprint store add' makes one",
				place);
	if (!err)
		*ret = store;
	return err;
}

struct imp_error *store_use_readable(const char *dir, const struct log *log, struct store **ret)
{
	struct imp_error *err = store_use(dir, STORE_READ, log, ret);
	if (err)
		return err;
	struct store *writable;
	_cleanup_error_ struct imp_error *refused =
		store_open(store_dir(*ret), STORE_WRITE, log, &writable);
	if (refused)
		return NULL;
	store_free(*ret);
	*ret = writable;
	return NULL;
}

static struct imp_error *only_one(const char *word, const struct store_ids *ids,
				  struct store_ref *ret)
{
	if (ids->count == 1) {
		*ret = (struct store_ref){ .id = ids->items[0] };
		return NULL;
	}
	if (!ids->count)
		return error_new(IMP_ERR_SYSTEM, "%s: not in the store", word);
	return error_new(IMP_ERR_USAGE, "%s: %zu builds fit: %s, %s%s", word, ids->count,
			 build_id_text(&ids->items[0]).text, build_id_text(&ids->items[1]).text,
			 ids->count > 2 ? ", ..." : "");
}

// A path names what was seen there; else the file's own ID counts.
static struct imp_error *entry_at(struct store *store, const char *path, struct store_ref *ret)
{
	_cleanup_store_ids_ struct store_ids ids = { 0 };
	struct imp_error *err = store_ids_at(store, path, &ids);
	if (err)
		return err;
	if (!ids.count) {
		struct build_id id = { 0 };
		_cleanup_error_ struct imp_error *unreadable = elf_build_id_read(path, &id);
		if (!unreadable && !build_id_is_none(&id)) {
			*ret = (struct store_ref){ .id = id };
			return NULL;
		}
	}
	return only_one(path, &ids, ret);
}

struct imp_error *store_use_entry(struct store *store, const char *word, struct store_ref *ret)
{
	enum { FEWEST_DIGITS = 6 };
	if (!strncmp(word, hash_mark, sizeof hash_mark - 1)) {
		*ret = (struct store_ref){ 0 };
		if (store_hash_parse(word + sizeof hash_mark - 1, &ret->hash))
			return NULL;
		return error_new(IMP_ERR_USAGE, "%s: not 64 hex digits", word);
	}
	if (strchr(word, '/') || word[0] == '[')
		return entry_at(store, word, ret);
	if (!strncmp(word, "0x", 2))
		word += 2;
	struct build_id id;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = NULL;
	if (build_id_parse(word, &id))
		err = store_find_all(store, &id, &objects);
	if (!err && objects.count) {
		*ret = (struct store_ref){ .id = id };
		return NULL;
	}
	_cleanup_store_ids_ struct store_ids ids = { 0 };
	if (!err && strlen(word) >= FEWEST_DIGITS)
		err = store_complete(store, word, &ids);
	return err ? err : only_one(word, &ids, ret);
}

struct store_ref_text store_ref_text(const struct store_ref *ref)
{
	struct store_ref_text text;
	bool is_hash = build_id_is_none(&ref->id);
	(void)snprintf(text.text, sizeof text.text, "%s%s", is_hash ? hash_mark : "",
		       is_hash ? store_hash_text(&ref->hash).text : build_id_text(&ref->id).text);
	return text;
}
