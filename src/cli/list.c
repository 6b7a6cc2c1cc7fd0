// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint list: the images of a recording, each with its build ID.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hits.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/table.h"
#include "cli/archived.h"
#include "cli/command.h"
#include "cli/list_core.h"
#include "cli/temporary.h"
#include "cli/terminal.h"

enum { LIST_JSON_VERSION = 1, PERF_ID_COLUMNS = 40 };

struct list_options {
	const char *input;
	const char *core;
	bool with_hits;
	bool is_long;
	bool json;
	uint64_t jobs;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct list_options, field)           \
	}

static const struct option list_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - for stdin"),
	ROW(OPTION_TEXT, 0, "core", "CORE", core, "the images of a core file instead"),
	ROW(OPTION_FLAG, 'H', "with-hits", NULL, with_hits,
	    "only images that samples or their call chains fell into"),
	ROW(OPTION_FLAG, 'l', "long", NULL, is_long,
	    "also the kind, where the identity comes from, mappings, samples"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_THREADS, 'j', "jobs", "N", jobs, "threads to read with (all processors)"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings and no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	{ .kind = OPTION_END },
};

// An image under a path, in however many ways its identity is known.
struct list_row {
	// The number of the first of them.
	uint32_t image;
	// The surest.
	enum identity identity;
	uint64_t mappings, samples;
	bool is_hit;
};

struct listing {
	const struct list_options *options;
	struct recording *recording;
	struct survey *survey;
	// NULL when nobody asked.
	struct hits *hits;
	// Beside samples there are traces, which may have gone anywhere.
	bool has_trace;
	ARRAY_OF(struct list_row) rows;
};

static const struct image *image_of(const struct listing *listing, const struct list_row *row)
{
	return timeline_image(listing->survey->timeline, row->image);
}

// Generated code, stacks and the like are no files that could have an ID.
static bool can_have_id(enum image_kind kind)
{
	return kind != IMAGE_JIT && kind != IMAGE_ANON && kind != IMAGE_SPECIAL;
}

static bool is_wanted(const struct listing *listing, uint32_t number)
{
	const struct image *image = timeline_image(listing->survey->timeline, number);
	bool is_hit = listing->hits && listing->hits->is_hit[number];
	if (listing->options->with_hits && !listing->has_trace)
		return is_hit;
	if (!timeline_image_mappings(listing->survey->timeline, number) &&
	    image->kind == IMAGE_KERNEL && image->identity == IDENTITY_NONE)
		// Nothing was recorded of the kernel, not even that it was there.
		return is_hit;
	return listing->options->is_long || listing->options->json || can_have_id(image->kind);
}

// Both are one build under one path; what is inferred is told apart.
static bool is_same(const struct image *a, const struct image *b)
{
	return a->identity < IDENTITY_INFERRED && b->identity < IDENTITY_INFERRED &&
	       a->kind == b->kind && a->pid == b->pid && build_id_equal(&a->id, &b->id) &&
	       !strcmp(a->path, b->path);
}

// The row of the image NUMBER, which is added at first sight.
static struct imp_error *row_of(struct listing *listing, struct table *by_id, uint32_t number,
				struct list_row **ret)
{
	const struct image *image = timeline_image(listing->survey->timeline, number);
	uint64_t hash = hash_mix(build_id_hash(&image->id),
				 hash_bytes(0, image->path, strlen(image->path)));
	struct table_probe probe = table_probe(by_id, hash);
	uint32_t index;
	while (table_next(by_id, &probe, &index)) {
		*ret = &listing->rows.items[index];
		if (is_same(image_of(listing, *ret), image))
			return NULL;
	}
	index = (uint32_t)listing->rows.count;
	*ret = array_add(&listing->rows);
	if (!*ret || !table_insert(by_id, hash, index))
		return &imp_error_no_memory;
	**ret = (struct list_row){ .image = number, .identity = image->identity };
	return NULL;
}

static struct imp_error *choose(struct listing *listing)
{
	const struct timeline *timeline = listing->survey->timeline;
	const struct hits *hits = listing->hits;
	struct table by_id = { .count = 0 };
	struct imp_error *err = NULL;
	for (uint32_t i = 0; i < timeline_image_count(timeline) && !err; i++) {
		struct list_row *row;
		if (!is_wanted(listing, i))
			continue;
		err = row_of(listing, &by_id, i, &row);
		if (err)
			break;
		enum identity identity = timeline_image(timeline, i)->identity;
		if (identity < row->identity)
			row->identity = identity;
		row->mappings += timeline_image_mappings(timeline, i);
		row->samples += hits && hits->samples ? hits->samples[i] : 0;
		row->is_hit |= hits && hits->is_hit[i];
	}
	table_fini(&by_id);
	return err;
}

// The ID, or the word that says why there is none to rely on.
static struct build_id_text id_column(const struct image *image)
{
	if (identity_is_usable(image->identity))
		return build_id_text(&image->id);
	struct build_id_text text;
	snprintf(text.text, sizeof text.text, "%s", identity_name(image->identity));
	return text;
}

// Prints each different line once, in the order of first sight: an image may be known in several
// ways.
static struct imp_error *print_short(const struct listing *listing)
{
	struct strings lines = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < listing->rows.count; i++) {
		const struct image *image = image_of(listing, &listing->rows.items[i]);
		_cleanup_free_ char *line = NULL;
		int length = asprintf(&line, "%-*s %s", PERF_ID_COLUMNS, id_column(image).text,
				      image->path);
		size_t before = lines.all.count;
		uint32_t number;
		err = length < 0 ? &imp_error_no_memory
				 : strings_intern(&lines, line, (size_t)length, &number);
		if (!err && lines.all.count > before)
			puts(line);
	}
	strings_fini(&lines);
	return err;
}

static void print_long(const struct listing *listing)
{
	printf("%-*s %-12s %-14s %8s %10s %s\n", PERF_ID_COLUMNS, "BUILD ID", "KIND", "IDENTITY",
	       "MAPPINGS", "SAMPLES", "PATH");
	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct list_row *row = &listing->rows.items[i];
		const struct image *image = image_of(listing, row);
		printf("%-*s %-12s %-14s %8" PRIu64 " %10" PRIu64 " %s\n", PERF_ID_COLUMNS,
		       identity_is_usable(image->identity) ? build_id_text(&image->id).text : "-",
		       image_kind_name(image->kind), identity_name(row->identity), row->mappings,
		       row->samples, image->path);
	}
}

static void print_json_image(struct json *json, const struct listing *listing,
			     const struct list_row *row)
{
	const struct image *image = image_of(listing, row);
	bool is_usable = identity_is_usable(image->identity);
	json_begin_object(json);
	json_member_string(json, "build_id", is_usable ? build_id_text(&image->id).text : NULL);
	if (image->identity == IDENTITY_AMBIGUOUS)
		json_member_string(json, "claimed_build_id", build_id_text(&image->id).text);
	if (image->id_is_padded)
		json_member_bool(json, "build_id_is_padded", true);
	json_member_string(json, "path", image->path);
	json_member_string(json, "kind", image_kind_name(image->kind));
	json_member_string(json, "identity", identity_name(row->identity));
	if (image->pid)
		json_member_uint(json, "pid", image->pid);
	json_member_uint(json, "mappings", row->mappings);
	json_member_uint(json, "samples", row->samples);
	json_member_bool(json, "hit", row->is_hit);
	json_end_object(json);
}

static void print_json(const struct listing *listing)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-list");
	json_member_uint(&json, "version", LIST_JSON_VERSION);
	json_member_string(&json, "recording", recording_path(listing->recording));
	json_key(&json, "images");
	json_begin_array(&json);
	for (size_t i = 0; i < listing->rows.count; i++)
		print_json_image(&json, listing, &listing->rows.items[i]);
	json_end_array(&json);
	json_key(&json, "unlocated_samples");
	json_begin_object(&json);
	for (enum unknown_reason reason = 1; reason < UNKNOWN_REASONS; reason++)
		if (listing->hits->unknown[reason])
			json_member_uint(&json, unknown_reason_name(reason),
					 listing->hits->unknown[reason]);
	json_end_object(&json);
	json_end_object(&json);
	putchar('\n');
}

static struct imp_error *print(const struct listing *listing)
{
	if (!listing->options->json && !listing->options->is_long)
		return print_short(listing);
	if (listing->options->json)
		print_json(listing);
	else
		print_long(listing);
	return NULL;
}

static struct imp_error *list(struct listing *listing, const struct log *log)
{
	const struct list_options *options = listing->options;
	struct recording_options how = { .log = log,
					 .workers = (unsigned)options->jobs,
					 .temporary_directory = temporary_directory() };
	struct imp_error *err = recording_open(options->input, &how, &listing->recording);
	bool needs_counts = options->is_long || options->json;
	if (!err && options->with_hits && !needs_counts)
		err = hits_survey(listing->recording, log, &listing->survey, &listing->hits);
	else if (!err)
		err = survey_new(listing->recording, log, &listing->survey);
	if (!err && needs_counts)
		err = hits_count(listing->recording, listing->survey, &listing->hits);
	if (!err && options->with_hits && listing->survey->records[RECORD_AUXTRACE]) {
		log_message(log, LOG_WARNING,
			    "%s: where its AUX traces went is not decoded: all images are listed",
			    recording_path(listing->recording));
		listing->has_trace = true;
	}
	if (!err)
		err = choose(listing);
	return err ? err : print(listing);
}

static int list_run(const struct invocation *invocation, struct imp_error **err)
{
	struct list_options *options = invocation->options;
	if (options->core && (invocation->operands.count || options->input || options->with_hits ||
			      options->is_long || options->json)) {
		*err = error_new(IMP_ERR_USAGE, "--core goes with no other option ('imprint "
						"snapshot --core' tells more)");
		return EXIT_USAGE;
	}
	if (options->core) {
		*err = list_core(options->core);
		return *err ? EXIT_FAILED : EXIT_DONE;
	}
	if (invocation->operands.count > 1 || (invocation->operands.count && options->input)) {
		*err = error_new(IMP_ERR_USAGE, "one recording at a time");
		return EXIT_USAGE;
	}
	if (invocation->operands.count)
		options->input = invocation->operands.items[0];
	terminal_set_level(options->is_quiet, options->verbose);
	if (!options->input)
		options->input = "perf.data";
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	*err = archived_open(&options->input, NULL, invocation->log, &archive);
	if (*err)
		return EXIT_FAILED;
	struct listing listing = { .options = options };
	*err = list(&listing, invocation->log);
	array_fini(&listing.rows);
	hits_free(listing.hits);
	survey_free(listing.survey);
	recording_close(listing.recording);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_list = {
	.name = "list",
	.summary = "List the images of a recording with their build IDs",
	.usage = "list [-i FILE | --core CORE] [-H] [-l | --json]",
	.description =
		"Each line is a build ID and a path, as of perf buildid-list. Without an ID\n"
		"to rely on it says so: none, or ambiguous when several files were mapped\n"
		"under the path and the recording has one ID for all.",
	.options = list_rows,
	.options_size = sizeof(struct list_options),
	.run = list_run,
};
