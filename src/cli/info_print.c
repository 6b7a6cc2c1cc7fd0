// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint info for people.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/info.h"
#include "cli/printable.h"

enum { KEY_COLUMNS = 18 };

// A feature's tree as lines: a value, or a list of words, on the feature's own line; else one for
// each member or item, with all that is in it.
struct tree {
	unsigned depth;
	bool has_item;
	// Columns from the end of the feature's name to its value.
	int padding;
	// Still on the line of a feature that is a list.
	bool is_word_list;
};

static void begin_item(struct tree *tree, const char *key, bool is_tree)
{
	if (tree->depth == 1 && tree->is_word_list && is_tree) {
		tree->is_word_list = false;
		putchar('\n');
	}
	if (tree->depth == 0)
		tree->padding = KEY_COLUMNS + 1 - printf("  %s", key) + 2;
	if (tree->depth == 0 ? !is_tree : tree->depth == 1 && tree->is_word_list)
		printf("%*s", tree->has_item ? 1 : tree->padding, "");
	else if (tree->depth == 1)
		printf("    %-*s%s", key ? KEY_COLUMNS - 2 : 0, key ? key : "", key ? " " : "");
	else if (tree->depth > 1)
		printf("%s%s%s", tree->has_item ? ", " : "", key ? key : "", key ? " " : "");
	tree->has_item = true;
}

static void end_item(const struct tree *tree)
{
	if (tree->depth == 0 || (tree->depth == 1 && !tree->is_word_list))
		putchar('\n');
}

static void tree_begin(void *arg, const char *key, bool is_list)
{
	struct tree *tree = arg;
	begin_item(tree, key, true);
	tree->is_word_list = tree->depth == 0 && is_list;
	if (tree->depth == 0 && !is_list)
		putchar('\n');
	else if (tree->depth > 1)
		putchar(is_list ? '[' : '{');
	tree->depth++;
	tree->has_item = false;
}

static void tree_end(void *arg, bool is_list)
{
	struct tree *tree = arg;
	tree->depth--;
	if (tree->depth > 1)
		putchar(is_list ? ']' : '}');
	else if (tree->depth == 1 || tree->is_word_list)
		putchar('\n');
	tree->has_item = true;
	if (tree->depth == 0)
		tree->is_word_list = false;
}

static void tree_text(void *arg, const char *key, const char *value)
{
	begin_item(arg, key, false);
	printable(stdout, value);
	end_item(arg);
}

static void tree_number(void *arg, const char *key, uint64_t value)
{
	begin_item(arg, key, false);
	printf("%" PRIu64, value);
	end_item(arg);
}

static void print_feature(const struct info *info, unsigned bit)
{
	struct tree tree = { 0 };
	const struct feature_sink sink = { tree_begin, tree_end, tree_text, tree_number, &tree };
	char key[64];
	size_t length = 0;
	for (const char *name = feature_name(bit); name[length] && length + 1 < sizeof key;
	     length++)
		key[length] = (char)tolower((unsigned char)name[length]);
	key[length] = '\0';
	struct imp_error *err = info_show_feature(info, bit, key, &sink);
	if (err)
		printf("  %-*s (damaged: %s)\n", KEY_COLUMNS, key, imp_error_message(err));
	imp_error_free(err);
}

static void print_features(const struct info *info)
{
	bool has_any = false;
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!features_has(recording_features(info->recording), bit) ||
		    !feature_can_be_shown(bit))
			continue;
		if (!has_any)
			puts("\nHeader features");
		has_any = true;
		print_feature(info, bit);
	}
}

static void print_event(const struct event *event, uint64_t samples)
{
	const struct event_attr *attr = &event->attr;
	fputs("  ", stdout);
	printable(stdout, event->name);
	printf(": %" PRIu64 " samples, type %" PRIu32 ", config 0x%" PRIx64, samples, attr->type,
	       attr->config);
	if (attr_has(attr, ATTR_FREQ))
		printf(", %" PRIu64 " Hz", attr->sample_period);
	else if (attr->sample_period)
		printf(", period %" PRIu64, attr->sample_period);
	printf(", %zu IDs\n    ", event->id_count);
	for (unsigned bit = 0; bit < 64; bit++)
		if (attr->sample_type >> bit & 1)
			printf(" %s", sample_bit_name(bit) ? sample_bit_name(bit) : "(unknown)");
	putchar('\n');
}

static void print_records(const struct info *info)
{
	printf("\nRecords%*s%12s %14s\n", KEY_COLUMNS - 3, "", "count", "bytes");
	struct contents_row row;
	for (size_t i = 0; info_row(info, i, &row); i++) {
		if (!row.records)
			continue;
		const char *name = record_type_name(row.type);
		char number[16];
		snprintf(number, sizeof number, "%" PRIu32, row.type);
		printf("  %-*s %12" PRIu64 " %14" PRIu64 "\n", KEY_COLUMNS + 1,
		       name ? name : number, row.records, row.bytes);
	}
	uint64_t records, bytes, inflated;
	recording_compression(info->recording, &records, &bytes, &inflated);
	if (records)
		printf("  %" PRIu64 " compressed records of %" PRIu64 " bytes held %" PRIu64
		       " bytes of these\n",
		       records, bytes, inflated);
}

static void print_time(const struct info *info)
{
	const struct contents *contents = &info->contents;
	if (contents->first_ns > contents->last_ns)
		return;
	uint64_t span = contents->last_ns - contents->first_ns;
	printf("  %-*s %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s (%" PRIu64
	       ".%03" PRIu64 " s)\n",
	       KEY_COLUMNS, "samples", contents->first_ns / 1000000000,
	       contents->first_ns % 1000000000, contents->last_ns / 1000000000,
	       contents->last_ns % 1000000000, span / 1000000000, span / 1000000 % 1000);
}

static void print_recording(const struct info *info)
{
	static const char *const modes[] = {
		[RECORDING_FILE] = "file",
		[RECORDING_PIPE] = "stream",
		[RECORDING_DIRECTORY] = "directory",
	};
	bool is_big_endian = recording_is_swapped(info->recording) !=
			     (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	puts("Recording");
	printf("  %-*s ", KEY_COLUMNS, "path");
	printable(stdout, recording_path(info->recording));
	printf("\n  %-*s %s, %s-endian, %" PRIu64 " bytes of records\n", KEY_COLUMNS, "form",
	       modes[recording_mode(info->recording)], is_big_endian ? "big" : "little",
	       recording_size_bytes(info->recording));
	print_time(info);
	printf("  %-*s %" PRIu64 " records, %" PRIu64 " samples\n", KEY_COLUMNS, "lost",
	       info->contents.lost_records, info->contents.lost_samples);
	printf("  %-*s %zu\n", KEY_COLUMNS, "build-ID table",
	       recording_build_id_count(info->recording));
}

void info_print(const struct info *info)
{
	print_recording(info);
	print_features(info);
	const struct events *events = recording_events(info->recording);
	puts("\nEvents");
	for (size_t i = 0; i < events->count; i++)
		print_event(&events->items[i], info->contents.samples[i]);
	print_records(info);
	if (info->left_out.count)
		puts("\nLeft out");
	for (size_t i = 0; i < info->left_out.count; i++) {
		fputs("  ", stdout);
		printable(stdout, info->left_out.items[i]);
		putchar('\n');
	}
}
