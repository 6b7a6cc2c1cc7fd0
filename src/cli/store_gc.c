// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store gc` and `imprint store du`: how much there is, and how much of it stays.
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/needs.h"
#include "cli/store_use.h"
#include "store/packed.h"

extern const struct command command_store_gc, command_store_du;

struct gc_options {
	const char *dir;
	uint64_t most_bytes;
	uint64_t keep_days;
	struct option_list used_by;
	bool is_dry;
	bool json;
};

static void gc_defaults(void *options)
{
	((struct gc_options *)options)->most_bytes = UINT64_C(10) << 30;
}

static const struct option gc_options[] = {
	STORE_OPTION(struct gc_options, dir),
	{ .kind = OPTION_NUMBER,
	  .name = "max-size",
	  .argument = "SIZE",
	  .help = "the least recently used go until SIZE (k, M, G) is left (10G); 0: no limit",
	  .offset = offsetof(struct gc_options, most_bytes) },
	{ .kind = OPTION_NUMBER,
	  .name = "keep-days",
	  .argument = "DAYS",
	  .help = "what was not used for DAYS days goes",
	  .offset = offsetof(struct gc_options, keep_days) },
	{ .kind = OPTION_LIST,
	  .name = "keep-used-by",
	  .argument = "RECORDING",
	  .help = "what its samples hit stays (may be repeated)",
	  .offset = offsetof(struct gc_options, used_by) },
	{ .kind = OPTION_FLAG,
	  .letter = 'n',
	  .name = "dry-run",
	  .help = "only say what would go",
	  .offset = offsetof(struct gc_options, is_dry) },
	{ .kind = OPTION_END },
};

static const struct option du_options[] = {
	STORE_OPTION(struct gc_options, dir),
	{ .kind = OPTION_FLAG,
	  .name = "json",
	  .help = "as JSON",
	  .offset = offsetof(struct gc_options, json) },
	{ .kind = OPTION_END },
};

static void print_going(void *arg, const struct store_entry *entry)
{
	(void)arg;
	struct store_ref ref = { .id = entry->id };
	if (entry->objects->count)
		ref.hash = entry->objects->items[0].hash;
	printf("%-40s %10s\n", store_ref_text(&ref).text, units_size(entry->size_bytes).text);
}

static int gc_run(const struct invocation *invocation, struct imp_error **err)
{
	enum { DAY = 24 * 3600 };
	struct gc_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_READ, invocation->log, &store);
	store_free(store);
	store = NULL;
	if (!*err)
		*err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	struct needs_ids keep = { 0 };
	for (size_t i = 0; !*err && i < options->used_by.count; i++)
		*err = needs_collect(options->used_by.items[i], invocation->log, &keep);
	if (!*err)
		*err = needs_add_alts(store, &keep);
	struct store_gc_options gc = { .most_bytes = options->most_bytes,
				       .keep = keep.items,
				       .keep_count = keep.count,
				       .is_dry = options->is_dry,
				       .going = options->is_dry ? print_going : NULL };
	if (options->keep_days)
		gc.used_since_s = time(NULL) - (int64_t)options->keep_days * DAY;
	struct store_gc_counts counts;
	if (!*err)
		*err = store_gc(store, &gc, &counts);
	array_fini(&keep);
	array_fini(&options->used_by);
	if (*err)
		return EXIT_FAILED;
	printf("%zu %s (%s), %zu kept (%s)\n", counts.gone, options->is_dry ? "would go" : "gone",
	       units_size(counts.gone_bytes).text, counts.kept, units_size(counts.kept_bytes).text);
	if (counts.copies_gone)
		printf("%zu compressed copies %s (%s)\n", counts.copies_gone,
		       options->is_dry ? "would go" : "gone",
		       units_size(counts.copies_gone_bytes).text);
	return EXIT_DONE;
}

struct usage {
	uint64_t entries;
	uint64_t copies, copies_bytes;
	uint64_t objects[STORE_ROLES];
	uint64_t bytes[STORE_ROLES];
};

static struct imp_error *add_usage(void *arg, const struct store_entry *entry)
{
	struct usage *usage = arg;
	usage->entries++;
	for (size_t i = 0; i < entry->objects->count; i++) {
		const struct store_object *object = &entry->objects->items[i];
		usage->objects[object->role]++;
		usage->bytes[object->role] += object->size_bytes;
	}
	return NULL;
}

static struct imp_error *add_copy(void *arg, const struct packed_copy *copy)
{
	struct usage *usage = arg;
	usage->copies++;
	usage->copies_bytes += copy->size_bytes;
	return NULL;
}

static void print_usage(const struct usage *usage)
{
	uint64_t bytes = 0;
	uint64_t objects = 0;
	for (unsigned role = 0; role < STORE_ROLES; role++) {
		if (usage->objects[role])
			printf("%10s %8" PRIu64 " %s\n", units_size(usage->bytes[role]).text,
			       usage->objects[role], store_role_name((enum store_role)role));
		bytes += usage->bytes[role];
		objects += usage->objects[role];
	}
	printf("%10s %8" PRIu64 " objects in %" PRIu64 " entries\n", units_size(bytes).text,
	       objects, usage->entries);
	if (usage->copies)
		printf("%10s %8" PRIu64 " compressed copies\n",
		       units_size(usage->copies_bytes).text, usage->copies);
}

static void print_usage_json(const struct usage *usage)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_uint(&json, "version", 1);
	json_member_uint(&json, "entries", usage->entries);
	json_key(&json, "roles");
	json_begin_object(&json);
	for (unsigned role = 0; role < STORE_ROLES; role++) {
		json_key(&json, store_role_name((enum store_role)role));
		json_begin_object(&json);
		json_member_uint(&json, "objects", usage->objects[role]);
		json_member_uint(&json, "bytes", usage->bytes[role]);
		json_end_object(&json);
	}
	json_end_object(&json);
	json_key(&json, "compressed");
	json_begin_object(&json);
	json_member_uint(&json, "copies", usage->copies);
	json_member_uint(&json, "bytes", usage->copies_bytes);
	json_end_object(&json);
	json_end_object(&json);
}

static int du_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct gc_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_READ, invocation->log, &store);
	struct usage usage = { 0 };
	if (!*err)
		*err = store_walk(store, add_usage, &usage);
	if (!*err)
		*err = packed_walk(store, add_copy, &usage);
	if (*err)
		return EXIT_FAILED;
	if (options->json)
		print_usage_json(&usage);
	else
		print_usage(&usage);
	return EXIT_DONE;
}

const struct command command_store_gc = {
	.name = "gc",
	.summary = "Free space: the least recently used go first",
	.usage = "store gc [--max-size SIZE] [--keep-days DAYS] [OPTIONS]",
	.description = "What is pinned stays, and what --keep-used-by names.",
	.options = gc_options,
	.options_size = sizeof(struct gc_options),
	.defaults = gc_defaults,
	.run = gc_run,
};

const struct command command_store_du = {
	.name = "du",
	.summary = "Say how much the store holds, by role",
	.usage = "store du [--json]",
	.options = du_options,
	.options_size = sizeof(struct gc_options),
	.run = du_run,
};
