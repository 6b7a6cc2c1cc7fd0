// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store ls`: the entries of a store as a table or as JSON.
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/printable.h"
#include "cli/store_use.h"

extern const struct command command_store_ls;

struct ls_options {
	const char *dir;
	bool json;
	uint64_t larger;
	uint64_t unused_days;
	const char *sort;
};

static const struct option ls_options[] = {
	STORE_OPTION(struct ls_options, dir),
	{ .kind = OPTION_NUMBER,
	  .name = "larger",
	  .argument = "SIZE",
	  .help = "only entries of more than SIZE bytes (k, M, G)",
	  .offset = offsetof(struct ls_options, larger) },
	{ .kind = OPTION_NUMBER,
	  .name = "unused",
	  .argument = "DAYS",
	  .help = "only entries not used for DAYS days",
	  .offset = offsetof(struct ls_options, unused_days) },
	{ .kind = OPTION_TEXT,
	  .name = "sort",
	  .argument = "KEY",
	  .help = "id (the default), size or age",
	  .offset = offsetof(struct ls_options, sort) },
	{ .kind = OPTION_FLAG,
	  .name = "json",
	  .help = "as JSON, with all objects and paths",
	  .offset = offsetof(struct ls_options, json) },
	{ .kind = OPTION_END },
};

struct row {
	struct store_ref ref;
	struct store_objects objects;
	struct store_sights sights;
	uint64_t size_bytes;
	int64_t used_s;
	bool is_pinned;
};

struct listing {
	struct store *store;
	const struct ls_options *options;
	const struct operands *wanted;
	int64_t now_s;
	ARRAY_OF(struct row) rows;
};

static bool fits_path(const struct store_sights *sights, const char *pattern)
{
	for (size_t i = 0; i < sights->count; i++)
		if (!fnmatch(pattern, sights->items[i].path, 0))
			return true;
	return false;
}

// Operands are first digits of IDs, or patterns of paths (they have a slash).
static bool fits_words(const struct listing *list, const struct row *row, const char *name)
{
	for (size_t i = 0; i < list->wanted->count; i++) {
		const char *word = list->wanted->items[i];
		bool is_pattern = strchr(word, '/') || word[0] == '[';
		if (is_pattern ? fits_path(&row->sights, word) : !strncmp(name, word, strlen(word)))
			return true;
	}
	return !list->wanted->count;
}

static bool fits_options(const struct listing *list, const struct store_entry *entry)
{
	enum { DAY = 24 * 3600 };
	const struct ls_options *options = list->options;
	if (options->larger && entry->size_bytes <= options->larger)
		return false;
	return !options->unused_days ||
	       entry->used_s < list->now_s - (int64_t)options->unused_days * DAY;
}

static void row_fini(struct row *row)
{
	store_objects_fini(&row->objects);
	store_sights_fini(&row->sights);
}

static struct imp_error *note_entry(void *arg, const struct store_entry *entry)
{
	struct listing *list = arg;
	if (!fits_options(list, entry))
		return NULL;
	struct row row = { .ref.id = entry->id,
			   .ref.hash = entry->objects->items[0].hash,
			   .size_bytes = entry->size_bytes,
			   .used_s = entry->used_s,
			   .is_pinned = entry->is_pinned };
	struct imp_error *err = store_sights(list->store, &row.ref.id, &row.ref.hash, &row.sights);
	bool fits = !err && fits_words(list, &row, entry->name);
	if (fits && !array_reserve(&row.objects, entry->objects->count))
		err = &imp_error_no_memory;
	struct row *slot = !err && fits ? array_add(&list->rows) : NULL;
	if (!slot) {
		row_fini(&row);
		return err || !fits ? err : &imp_error_no_memory;
	}
	memcpy(row.objects.items, entry->objects->items,
	       entry->objects->count * sizeof *row.objects.items);
	row.objects.count = entry->objects->count;
	*slot = row;
	return NULL;
}

static int compare_sizes(const void *a, const void *b)
{
	uint64_t left = ((const struct row *)a)->size_bytes;
	uint64_t right = ((const struct row *)b)->size_bytes;
	return left > right ? -1 : left < right;
}

static int compare_ages(const void *a, const void *b)
{
	int64_t left = ((const struct row *)a)->used_s;
	int64_t right = ((const struct row *)b)->used_s;
	return left < right ? -1 : left > right;
}

static struct imp_error *sort_rows(struct listing *list)
{
	const char *key = list->options->sort ? list->options->sort : "id";
	if (!strcmp(key, "id") || !list->rows.count)
		return NULL;
	if (!strcmp(key, "size"))
		qsort(list->rows.items, list->rows.count, sizeof *list->rows.items, compare_sizes);
	else if (!strcmp(key, "age"))
		qsort(list->rows.items, list->rows.count, sizeof *list->rows.items, compare_ages);
	else
		return error_new(IMP_ERR_USAGE, "--sort is by id, size or age, not by '%s'", key);
	return NULL;
}

// "executable+debug", ranks behind: what there is, each once.
static void print_kinds(const struct row *row, char *text, size_t size)
{
	bool has[STORE_ROLES] = { false };
	enum store_rank best = STORE_STRIPPED;
	for (size_t i = 0; i < row->objects.count; i++) {
		has[row->objects.items[i].role] = true;
		if (row->objects.items[i].rank > best)
			best = row->objects.items[i].rank;
	}
	size_t at = 0;
	text[0] = 0;
	for (unsigned role = 0; role < STORE_ROLES && at < size; role++)
		if (has[role])
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "+" : "",
					       store_role_name((enum store_role)role));
	if (at < size && (has[STORE_EXECUTABLE] || has[STORE_DEBUG]))
		(void)snprintf(text + at, size - at, ",%s", store_rank_name(best));
}

static const char *newest_path(const struct row *row)
{
	return row->sights.count ? row->sights.items[row->sights.count - 1].path : "";
}

static void print_rows(const struct listing *list)
{
	for (size_t i = 0; i < list->rows.count; i++) {
		const struct row *row = &list->rows.items[i];
		char kinds[128];
		print_kinds(row, kinds, sizeof kinds);
		printf("%-40s %10s %6s %c %-18s ", store_ref_text(&row->ref).text,
		       units_size(row->size_bytes).text, units_age(list->now_s - row->used_s).text,
		       row->is_pinned ? '*' : ' ', kinds);
		printable(stdout, newest_path(row));
		putchar('\n');
	}
}

static void json_object(struct json *json, const struct store_object *object)
{
	json_begin_object(json);
	json_member_string(json, "role", store_role_name(object->role));
	json_member_string(json, "rank", store_rank_name(object->rank));
	json_member_string(json, "sha256", store_hash_text(&object->hash).text);
	json_member_uint(json, "size", object->size_bytes);
	json_end_object(json);
}

static void json_row(struct json *json, const struct row *row)
{
	json_begin_object(json);
	json_key(json, "build_id");
	json_string(json, build_id_is_none(&row->ref.id) ? NULL : build_id_text(&row->ref.id).text);
	json_member_uint(json, "size", row->size_bytes);
	json_key(json, "used");
	json_int(json, row->used_s);
	json_member_bool(json, "pinned", row->is_pinned);
	json_key(json, "objects");
	json_begin_array(json);
	for (size_t i = 0; i < row->objects.count; i++)
		json_object(json, &row->objects.items[i]);
	json_end_array(json);
	json_key(json, "seen");
	json_begin_array(json);
	for (size_t i = 0; i < row->sights.count; i++) {
		json_begin_object(json);
		json_member_string(json, "path", row->sights.items[i].path);
		json_member_string(json, "sha256",
				   store_hash_text(&row->sights.items[i].hash).text);
		json_key(json, "time");
		json_int(json, row->sights.items[i].time_s);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void print_json(const struct listing *list)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_uint(&json, "version", 1);
	json_key(&json, "entries");
	json_begin_array(&json);
	for (size_t i = 0; i < list->rows.count; i++)
		json_row(&json, &list->rows.items[i]);
	json_end_array(&json);
	json_end_object(&json);
}

// One ID or one path leads to its entries directly; else all are looked at.
static struct imp_error *visit_entries(struct listing *list)
{
	const char *word = list->wanted->count == 1 ? list->wanted->items[0] : "";
	bool is_path = word[0] == '/' && !strpbrk(word, "*?[\\");
	if (is_path)
		return store_walk_path(list->store, word, note_entry, list);
	if (strlen(word) >= 2 && strspn(word, "0123456789abcdef") == strlen(word))
		return store_walk_prefix(list->store, word, note_entry, list);
	return store_walk(list->store, note_entry, list);
}

static int ls_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct ls_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_READ, invocation->log, &store);
	struct listing list = { .store = store,
				.options = options,
				.wanted = &invocation->operands,
				.now_s = time(NULL) };
	if (!*err)
		*err = visit_entries(&list);
	if (!*err)
		*err = sort_rows(&list);
	if (!*err && options->json)
		print_json(&list);
	else if (!*err)
		print_rows(&list);
	for (size_t i = 0; i < list.rows.count; i++)
		row_fini(&list.rows.items[i]);
	array_fini(&list.rows);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_ls = {
	.name = "ls",
	.summary = "List the entries: ID, size, last use, what there is, where seen",
	.usage = "store ls [OPTIONS] [ID-PREFIX|PATH-PATTERN...]",
	.description = "A * marks what is pinned. Patterns of paths are as in sh(1).",
	.options = ls_options,
	.options_size = sizeof(struct ls_options),
	.run = ls_run,
};
