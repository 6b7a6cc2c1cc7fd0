// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint fetch: files by build ID from debuginfod servers, the most sampled first.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/naming.h"
#include "cli/printable.h"
#include "cli/subject.h"
#include "cli/terminal.h"
#include "cli/wishes.h"

enum { FETCH_JSON_VERSION = 1, EXIT_INTERRUPTED = 130, TIMEOUT_SECONDS = 90 };

struct fetch_verb_options {
	struct naming naming;
	const char *input;
	struct option_list servers;
	double timeout_s;
	double min_percent;
	uint64_t jobs;
	bool no_debug;
	bool is_dry;
	bool json;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct fetch_verb_options, field)     \
	}

static const struct option fetch_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data)"),
	ROW(OPTION_LIST, 0, "server", "URL", servers,
	    "a debuginfod server (may be repeated; $DEBUGINFOD_URLS)"),
	ROW(OPTION_REAL, 0, "timeout", "SECONDS", timeout_s, "for everything together (90)"),
	ROW(OPTION_REAL, 0, "min-percent", "P", min_percent,
	    "only images with at least P percent of the samples (0.1)"),
	ROW(OPTION_NUMBER, 'j', "jobs", "N", jobs, "how many downloads at once (8)"),
	ROW(OPTION_FLAG, 0, "no-debug", NULL, no_debug, "programs and libraries only"),
	ROW(OPTION_FLAG, 'n', "dry-run", NULL, is_dry, "only say what would be asked for"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings and no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	FINDING_OPTIONS(struct fetch_verb_options, naming),
	{ .kind = OPTION_END },
};

static void fetch_defaults(void *values)
{
	struct fetch_verb_options *options = values;
	options->timeout_s = TIMEOUT_SECONDS;
	options->min_percent = 0.1;
}

static struct imp_error *wish_for_words(struct finder *finder, const struct operands *words,
					struct wishes *wishes)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < words->count && !err; i++) {
		const struct operands word = { &words->items[i], 1 };
		struct subject subject;
		err = subject_read(finder, &word, 0, &subject);
		if (err)
			break;
		err = subject.image.id.size
			      ? wishes_add(wishes, finder, &subject.image)
			      : error_new(IMP_ERR_USAGE, "%s: has no build ID", words->items[i]);
		subject_fini(&subject);
	}
	return err;
}

static void print_json(const struct wishes *wishes)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-fetch");
	json_member_uint(&json, "version", FETCH_JSON_VERSION);
	json_key(&json, "files");
	json_begin_array(&json);
	for (size_t i = 0; i < wishes->jobs.count; i++) {
		const struct fetch_job *job = &wishes->jobs.items[i];
		json_begin_object(&json);
		json_member_string(&json, "build_id", build_id_text(&job->id).text);
		json_member_string(&json, "part", fetch_part_name(job->part));
		json_member_string(&json, "mapped_path", wishes->paths.items[i]);
		json_member_string(&json, "outcome", fetch_outcome_name(job->outcome));
		json_member_string(&json, "file", job->path);
		json_member_string(&json, "server", job->server);
		json_member_uint(&json, "size_bytes", job->size_bytes);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_text(const struct wishes *wishes)
{
	for (size_t i = 0; i < wishes->jobs.count; i++) {
		const struct fetch_job *job = &wishes->jobs.items[i];
		const char *path = wishes->paths.items[i] ? wishes->paths.items[i] : "";
		printf("%-11s %-10s %s ", fetch_outcome_name(job->outcome),
		       fetch_part_name(job->part), build_id_text(&job->id).text);
		printable(stdout, job->path ? job->path : path);
		putchar('\n');
	}
}

static bool has_failed(const struct fetch_job *job, bool is_asked_for)
{
	switch (job->outcome) {
	case FETCH_DONE:
	case FETCH_KNOWN:
	case FETCH_WAITING:
		return false;
	case FETCH_ABSENT:
		return is_asked_for;
	case FETCH_FAILED:
	case FETCH_WRONG:
	case FETCH_STOPPED:
	case FETCH_OUTCOMES:
	default:
		return true;
	}
}

static struct imp_error *check(const struct fetch_verb_options *options,
			       const struct operands *words)
{
	if (words->count && options->input)
		return error_new(IMP_ERR_USAGE, "a recording or build IDs, not both");
	if (options->jobs > 64)
		return error_new(IMP_ERR_USAGE, "--jobs is at most 64");
	if (!(options->timeout_s > 0) || options->timeout_s > 1e6)
		return error_new(IMP_ERR_USAGE, "--timeout is a number of seconds above 0");
	return NULL;
}

static struct imp_error *run(const struct fetch_verb_options *options,
			     const struct invocation *invocation, struct wishes *wishes,
			     bool *was_interrupted)
{
	_cleanup_finder_ struct finder *finder = NULL;
	const struct operands *words = &invocation->operands;
	const char *path = options->input ? options->input : "perf.data";
	struct imp_error *err = check(options, words);
	if (!err)
		err = naming_finder(&options->naming, invocation->log, &finder);
	if (!err)
		err = words->count ? wish_for_words(finder, words, wishes)
				   : wishes_add_recording(wishes, finder, path, invocation->log);
	if (!err && !options->is_dry)
		err = wishes_choose_servers(wishes, &options->servers);
	if (!err && !options->is_dry)
		err = wishes_fetch(wishes, invocation->log, options->timeout_s,
				   (unsigned)options->jobs, was_interrupted);
	terminal_end_progress();
	if (!err && options->json)
		print_json(wishes);
	else if (!err)
		print_text(wishes);
	return err;
}

static int fetch_run(const struct invocation *invocation, struct imp_error **err)
{
	struct fetch_verb_options *options = invocation->options;
	struct wishes wishes = { .no_debug = options->no_debug,
				 .min_percent = options->min_percent };
	bool was_interrupted = false;
	terminal_set_level(options->is_quiet, options->verbose);
	*err = run(options, invocation, &wishes, &was_interrupted);
	int status = *err ? EXIT_FAILED : EXIT_DONE;
	for (size_t i = 0; i < wishes.jobs.count && !*err; i++)
		if (has_failed(&wishes.jobs.items[i], invocation->operands.count > 0))
			status = EXIT_FAILED;
	wishes_fini(&wishes);
	naming_fini(&options->naming);
	array_fini(&options->servers);
	return was_interrupted ? EXIT_INTERRUPTED : status;
}

const struct command command_fetch = {
	.name = "fetch",
	.summary = "Fetch files by build ID from debuginfod servers",
	.usage = "fetch [-i FILE | ID...] [--server URL]... [--timeout SECONDS]",
	.description =
		"What a recording's samples need and this machine does not have, the most\n"
		"sampled first; or what is given as IDs. No verb that reads uses the\n"
		"network by itself. Files go to the directory that debuginfod's clients share, each\n"
		"verified by its own build ID.",
	.options = fetch_rows,
	.options_size = sizeof(struct fetch_verb_options),
	.defaults = fetch_defaults,
	.run = fetch_run,
};
