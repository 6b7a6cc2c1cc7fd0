// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint diff: what changed between two snapshots, core files, recordings, or the machine as it
// is.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/printable.h"
#include "cli/recording_snapshot.h"
#include "environment/difference.h"
#include "environment/source.h"

struct diff_options {
	bool all;
	bool processes;
	bool builds;
	bool json;
	bool is_quiet;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct diff_options, field)           \
	}

static const struct option diff_rows[] = {
	ROW(OPTION_FLAG, 'a', "all", NULL, all, "show what is the same and what is unknown, too"),
	ROW(OPTION_FLAG, 'p', "processes", NULL, processes, "program by program"),
	ROW(OPTION_FLAG, 0, "builds", NULL, builds,
	    "A and B may be recordings, too: compare the builds that they saw run"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "only the exit status"),
	{ .kind = OPTION_END },
};

static bool is_shown(enum difference_kind kind, bool show_all)
{
	return show_all || (kind != DIFFERENCE_SAME && kind != DIFFERENCE_UNKNOWN);
}

static void print_side(const struct difference_side *side)
{
	fputs(*side->builds ? side->builds : "unknown", stdout);
	if (*side->version) {
		fputs(" (", stdout);
		printable(stdout, side->version);
		putchar(')');
	}
}

static void print_row(const struct difference_row *row)
{
	const struct difference_side *named = *row->after.path ? &row->after : &row->before;
	printf("%-8s %-6s ", difference_kind_name(row->kind), image_role_name(row->role));
	if (*row->before.path && *row->after.path &&
	    strcmp(row->before.path, row->after.path) != 0) {
		printable(stdout, row->before.path);
		fputs(" -> ", stdout);
	}
	printable(stdout, named->path);
	fputs("  ", stdout);
	if (row->kind == DIFFERENCE_CHANGED) {
		print_side(&row->before);
		fputs(" -> ", stdout);
		print_side(&row->after);
	} else {
		print_side(named);
	}
	putchar('\n');
}

static void print_program(const struct difference *difference, const struct program_row *row)
{
	printf("%-8s ", difference_kind_name(row->kind));
	printable(stdout, row->exe);
	if (*row->group) {
		fputs(" in ", stdout);
		printable(stdout, row->group);
	}
	printf("  %" PRIu64 " -> %" PRIu64 " processes\n", row->before, row->after);
	for (size_t i = 0; i < row->image_count; i++) {
		fputs("           ", stdout);
		printable(stdout, difference->program_images.items[row->first_image + i]);
		putchar('\n');
	}
}

static void print_text(const struct difference *difference, const struct diff_options *options)
{
	for (size_t i = 0; !options->processes && i < difference->rows.count; i++)
		if (is_shown(difference->rows.items[i].kind, options->all))
			print_row(&difference->rows.items[i]);
	for (size_t i = 0; options->processes && i < difference->programs.count; i++)
		if (is_shown(difference->programs.items[i].kind, options->all))
			print_program(difference, &difference->programs.items[i]);
}

static void json_side(struct json *json, const char *key, const struct difference_side *side)
{
	json_key(json, key);
	if (!*side->path) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_member_string(json, "path", side->path);
	json_key(json, "builds");
	json_begin_array(json);
	for (const char *at = side->builds; *at;) {
		char build[256];
		size_t length = strcspn(at, ",");
		snprintf(build, sizeof build, "%.*s", (int)length, at);
		json_string(json, build);
		at += length + strspn(at + length, ", ");
	}
	json_end_array(json);
	if (*side->version)
		json_member_string(json, "version", side->version);
	json_member_uint(json, "processes", side->processes);
	json_end_object(json);
}

static void json_program(struct json *json, const struct difference *difference,
			 const struct program_row *row)
{
	json_begin_object(json);
	json_member_string(json, "difference", difference_kind_name(row->kind));
	json_member_string(json, "exe", row->exe);
	if (*row->group)
		json_member_string(json, "group", row->group);
	json_member_uint(json, "before", row->before);
	json_member_uint(json, "after", row->after);
	json_key(json, "images");
	json_begin_array(json);
	for (size_t i = 0; i < row->image_count; i++)
		json_string(json, difference->program_images.items[row->first_image + i]);
	json_end_array(json);
	json_end_object(json);
}

static void print_json(const struct difference *difference, const struct diff_options *options)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-diff");
	json_member_uint(&json, "version", 1);
	for (unsigned i = 0; i < DIFFERENCE_KINDS; i++)
		json_member_uint(&json, difference_kind_name(i), difference->counts[i]);
	json_key(&json, "images");
	json_begin_array(&json);
	for (size_t i = 0; i < difference->rows.count; i++) {
		const struct difference_row *row = &difference->rows.items[i];
		if (!is_shown(row->kind, options->all))
			continue;
		json_begin_object(&json);
		json_member_string(&json, "difference", difference_kind_name(row->kind));
		json_member_string(&json, "role", image_role_name(row->role));
		if (*row->soname)
			json_member_string(&json, "soname", row->soname);
		json_side(&json, "before", &row->before);
		json_side(&json, "after", &row->after);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_key(&json, "programs");
	json_begin_array(&json);
	for (size_t i = 0; i < difference->programs.count; i++)
		if (is_shown(difference->programs.items[i].kind, options->all))
			json_program(&json, difference, &difference->programs.items[i]);
	json_end_array(&json);
	json_end_object(&json);
}

// Recordings are taken when they are asked for: their samples might be meant, too.
static struct imp_error *read_side(const struct diff_options *options, const struct log *log,
				   const char *name, struct snapshot **ret)
{
	if (options->builds && strcmp(name, ".") != 0 && !source_is_snapshot(name))
		return recording_snapshot(name, log, ret);
	struct imp_error *err = source_snapshot(name, NULL, ret);
	if (!err || imp_error_code(err) != IMP_ERR_BAD_DATA || source_is_snapshot(name))
		return err;
	imp_error_free(err);
	return error_new(IMP_ERR_USAGE,
			 "%s: neither a snapshot nor a core file; the builds of recordings are "
			 "compared with --builds",
			 name);
}

static struct imp_error *compare(const struct diff_options *options, const struct log *log,
				 const struct operands *operands, struct difference *ret)
{
	_cleanup_snapshot_ struct snapshot *before = NULL;
	_cleanup_snapshot_ struct snapshot *after = NULL;
	struct imp_error *err = read_side(options, log, operands->items[0], &before);
	if (!err)
		err = read_side(options, log, operands->items[1], &after);
	return err ? err : difference_of(before, after, ret);
}

static int diff_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct diff_options *options = invocation->options;
	if (invocation->operands.count != 2) {
		*err = error_new(IMP_ERR_USAGE, "diff takes two operands");
		return EXIT_USAGE;
	}
	_cleanup_difference_ struct difference difference = { 0 };
	*err = compare(options, invocation->log, &invocation->operands, &difference);
	if (*err)
		return EXIT_TROUBLE;
	if (options->json)
		print_json(&difference, options);
	else if (!options->is_quiet)
		print_text(&difference, options);
	return difference_is_any(&difference) ? EXIT_DIFFERENT : EXIT_DONE;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "Compare what runs, build by build, at two times or in two places",
	.usage = "diff [--all] [--processes] [--builds] [--json] A B",
	.description =
		"A and B are snapshots, core files, or \".\": this machine as it is now; with\n"
		"--builds recordings, too. The exit status is 0 when both run the same builds,\n"
		"1 when they do not, 2 on trouble.",
	.options = diff_rows,
	.options_size = sizeof(struct diff_options),
	.run = diff_run,
};
