// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the first digits of an ID to the IDs that begin so, in every place that names files by ID.
#include <dirent.h>
#include <string.h>
#include <strings.h>

#include "find/dir_index.h"
#include "find/search.h"
#include "store/store.h"

void found_ids_fini(struct found_ids *ids)
{
	array_fini(ids);
}

static struct imp_error *add(struct found_ids *ids, const struct build_id *id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (build_id_equal(&ids->items[i], id))
			return NULL;
	struct build_id *slot = array_add(ids);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *id;
	return NULL;
}

// Adds what DIR has of files named START and more digits, perhaps with an ending, when they begin
// with REST behind START.
static struct imp_error *list(const char *dir_path, const char *start, const char *rest,
			      struct found_ids *ids)
{
	_cleanup_dir_ DIR *dir = opendir(dir_path);
	struct imp_error *err = NULL;
	for (struct dirent *entry; dir && !err && (entry = readdir(dir));) {
		char text[BUILD_ID_TEXT_SIZE];
		struct build_id id;
		size_t digits = strcspn(entry->d_name, ".");
		if (strncasecmp(entry->d_name, rest, strlen(rest)) != 0 ||
		    digits + strlen(start) >= sizeof text)
			continue;
		snprintf(text, sizeof text, "%s%.*s", start, (int)digits, entry->d_name);
		if (build_id_parse(text, &id))
			err = add(ids, &id);
	}
	return err;
}

static struct imp_error *list_tree(const char *root, const char *prefix, struct found_ids *ids)
{
	const char start[] = { prefix[0], prefix[1], 0 };
	_cleanup_free_ char *dir = path_of("%s/.build-id/%s", root, start);
	return dir ? list(dir, start, prefix + 2, ids) : &imp_error_no_memory;
}

static struct imp_error *list_index(struct finder *finder, const char *prefix,
				    struct found_ids *ids)
{
	const struct indexed_file *files = NULL;
	size_t count = 0;
	struct imp_error *err =
		finder->index ? dir_index_complete(finder->index, prefix, &files, &count) : NULL;
	for (size_t i = 0; i < count && !err; i++)
		err = add(ids, &files[i].id);
	return err;
}

static struct imp_error *list_store(struct finder *finder, const char *prefix,
				    struct found_ids *ids)
{
	_cleanup_store_ids_ struct store_ids stored = { 0 };
	struct imp_error *err = finder->store ? store_complete(finder->store, prefix, &stored)
					      : NULL;
	for (size_t i = 0; i < stored.count && !err; i++)
		err = add(ids, &stored.items[i]);
	return err;
}

struct imp_error *finder_complete(struct finder *finder, const char *prefix, struct found_ids *ret)
{
	const struct finder_options *options = &finder->options;
	char lower[BUILD_ID_TEXT_SIZE] = "";
	if (strlen(prefix) < 2 || strlen(prefix) >= sizeof lower)
		return NULL;
	for (size_t i = 0; prefix[i]; i++)
		lower[i] =
			(char)(prefix[i] >= 'A' && prefix[i] <= 'F' ? prefix[i] | 0x20 : prefix[i]);
	struct imp_error *err = list_index(finder, lower, ret);
	if (!err)
		err = list_store(finder, lower, ret);
	if (!err && options->buildid_dir)
		err = list_tree(options->buildid_dir, lower, ret);
	for (const char *const *dir = options->debug_dirs; *dir && !err; dir++)
		err = list_tree(*dir, lower, ret);
	if (!err)
		err = list_tree("/usr/lib", lower, ret);
	if (!err && options->debuginfod_cache)
		err = list(options->debuginfod_cache, "", lower, ret);
	return err;
}
