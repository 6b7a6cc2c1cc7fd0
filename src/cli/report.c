// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint report: a recording as a profile.
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "cli/archived.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/naming.h"
#include "cli/temporary.h"
#include "cli/terminal.h"
#include "render/json_report.h"
#include "render/text_report.h"

struct report_options {
	const char *input;
	const char *chains;
	bool inverted;
	bool with_children, without_children;
	const char *sort;
	const char *separator;
	double percent_limit;
	bool with_samples;
	bool as_json;
	bool is_stdio;
	bool is_quiet;
	unsigned verbose;
	uint64_t workers;
	struct choice choice;
	struct naming naming;
	struct debuginfod debuginfod;
};

static const char default_sort[] = "comm,dso,sym";
static const char default_chains[] = "graph,0.5";
static const char *const chain_words[] = { "graph", "fractal", "none", "caller", "callee", "0",
					   "1",	    "2",       "3",    "4",	 "5",	   "6",
					   "7",	    "8",       "9",    NULL };

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct report_options, field)         \
	}

static const struct option report_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - for stdin"),
	ROW(OPTION_TEXT, 's', "sort", "KEY[,KEY]", sort,
	    "tell rows apart by comm, pid, tid, cpu, cgroup, cgroup_id, dso, sym, srcline, build_id, "
	    "path, kind, identity (comm,dso,sym)"),
	ROW(OPTION_FLAG, 0, "children", NULL, with_children,
	    "also count what is called from each row"),
	ROW(OPTION_FLAG, 0, "no-children", NULL, without_children, "only what was sampled there"),
	{ .kind = OPTION_OPTIONAL_TEXT,
	  .letter = 'g',
	  .name = "call-graph",
	  .argument = "HOW",
	  .fallback = default_chains,
	  .words = chain_words,
	  .offset = offsetof(struct report_options, chains),
	  .help = "draw call chains: caller, callee, graph (shares of all) or fractal (of the "
		  "parent), and the least percentage drawn (graph,0.5,callee; with --children: "
		  "caller)" },
	ROW(OPTION_FLAG, 'G', "inverted", NULL, inverted, "-g caller"),
	ROW(OPTION_REAL, 0, "percent-limit", "PERCENT", percent_limit, "leave lighter rows out"),
	ROW(OPTION_FLAG, 'n', "show-nr-samples", NULL, with_samples, "show numbers of samples"),
	ROW(OPTION_TEXT, 't', "field-separator", "SEP", separator,
	    "put SEP between fields instead of aligning them"),
	ROW(OPTION_FLAG, 0, "json", NULL, as_json, "as JSON (docs/json.md)"),
	{ .kind = OPTION_FLAG,
	  .name = "stdio",
	  .offset = offsetof(struct report_options, is_stdio),
	  .is_hidden = true },
	ROW(OPTION_THREADS, 'j', "jobs", "N", workers, "threads (one for each processor)"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "rows only, no warnings, no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (twice: even more)"),
	CHOICE_OPTIONS(struct report_options, choice),
	NARROWING_OPTIONS(struct report_options, choice),
	NAMING_OPTIONS(struct report_options, naming),
	DEBUGINFOD_OPTIONS(struct report_options, debuginfod),
	{ .kind = OPTION_END },
};

// The words of -g.
struct chain_choice {
	bool is_wanted, is_relative, has_order;
	enum branch_order order;
	double limit;
};

static struct imp_error *take_chain_word(const char *word, size_t length,
					 struct chain_choice *choice)
{
	static const struct {
		const char *word;
		bool is_relative, has_order, is_none;
		enum branch_order order;
	} words[] = {
		{ .word = "graph" },
		{ .word = "fractal", .is_relative = true },
		{ .word = "none", .is_none = true },
		{ .word = "caller", .has_order = true, .order = BRANCH_CALLER },
		{ .word = "callee", .has_order = true, .order = BRANCH_CALLEE },
		{ .word = "function" },
		{ .word = "percent" },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strlen(words[i].word) != length || memcmp(words[i].word, word, length) != 0)
			continue;
		choice->is_relative |= words[i].is_relative;
		choice->is_wanted &= !words[i].is_none;
		if (words[i].has_order) {
			choice->has_order = true;
			choice->order = words[i].order;
		}
		return NULL;
	}
	char *end;
	double limit = strtod(word, &end);
	if (end != word + length || limit < 0 || limit > 100)
		return error_new(IMP_ERR_USAGE, "option '-g': '%.*s' is no way to draw chains",
				 (int)length, word);
	choice->limit = limit;
	return NULL;
}

static struct imp_error *parse_chains(const struct report_options *options,
				      struct chain_choice *choice)
{
	*choice = (struct chain_choice){ .is_wanted = options->chains || options->inverted,
					 .has_order = options->inverted,
					 .order = BRANCH_CALLER,
					 .limit = 0.5 };
	for (const char *word = options->chains; word && *word;) {
		size_t length = strcspn(word, ",");
		struct imp_error *err = take_chain_word(word, length, choice);
		if (err)
			return err;
		word += length + (word[length] == ',');
	}
	if (!choice->has_order)
		choice->order = options->with_children ? BRANCH_CALLER : BRANCH_CALLEE;
	return NULL;
}

static bool has_column(const struct column_list *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (!strcmp(columns->items[i]->name, name))
			return true;
	return false;
}

// What is asked for, made ready.
struct report {
	const struct report_options *options;
	struct column_list columns;
	struct chain_choice chains;
	bool with_children;
	// Names of functions are shown, or lines.
	bool wants_names, wants_lines;
};

static struct imp_error *write_report(const struct report *report, const struct profile *profile)
{
	const struct report_options *options = report->options;
	if (options->as_json) {
		struct json_report_options json_options = {
			.columns = report->columns,
			.with_children = report->with_children,
			.with_stacks = report->chains.is_wanted,
		};
		return json_report(profile, &json_options, stdout);
	}
	struct text_report_options text_options = {
		.columns = report->columns,
		.with_children = report->with_children,
		.with_samples = options->with_samples,
		.percent_limit = options->percent_limit,
		.separator = options->separator,
		.with_chains = report->chains.is_wanted,
		.order = report->chains.order,
		.chain_limit = report->chains.limit,
		.is_relative = report->chains.is_relative,
		.is_bare = options->is_quiet,
	};
	return text_report(profile, &text_options, stdout);
}

static struct imp_error *prepare(struct report *report)
{
	const struct report_options *options = report->options;
	report->with_children = options->with_children && !options->without_children;
	struct imp_error *err =
		columns_parse(options->sort ? options->sort : default_sort, &report->columns);
	if (!err)
		err = parse_chains(options, &report->chains);
	bool has_chains = report->chains.is_wanted || report->with_children;
	bool has_lines = has_column(&report->columns, "srcline");
	report->wants_lines = has_chains || has_lines;
	report->wants_names = options->as_json || report->chains.is_wanted || has_lines ||
			      has_column(&report->columns, "sym") || options->choice.functions;
	return err;
}

static int report_run(const struct invocation *invocation, struct imp_error **err)
{
	struct report_options *options = invocation->options;
	terminal_set_level(options->is_quiet, options->verbose);
	struct report report = { .options = options };
	_cleanup_(chosen_fini) struct chosen chosen = { .is_everything = false };
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	*err = invocation->operands.count > 1 ? error_new(IMP_ERR_USAGE, "one recording at a time")
					      : prepare(&report);
	if (!*err)
		*err = choice_read(&options->choice, &chosen);
	if (*err)
		return EXIT_FAILED;
	const char *path = options->input		? options->input
			   : invocation->operands.count ? invocation->operands.items[0]
							: "perf.data";
	struct analysis_options analysis = {
		.temporary_directory = temporary_directory(),
		.log = invocation->log,
		.workers = (unsigned)options->workers,
		.with_chains = report.chains.is_wanted || report.with_children,
		.objects_only = !report.wants_names,
		.by_pid = has_column(&report.columns, "pid"),
		.by_tid = has_column(&report.columns, "tid"),
		.by_cpu = has_column(&report.columns, "cpu"),
		.by_cgroup = has_column(&report.columns, "cgroup"),
		.by_cgroup_id = has_column(&report.columns, "cgroup_id"),
		.choice = chosen_samples(&chosen),
	};
	*err = archived_open(&path, &options->naming, invocation->log, &archive);
	enum naming_depth depth = !report.wants_names  ? NAMING_NONE
				  : report.wants_lines ? NAMING_LINES
						       : NAMING_FUNCTIONS;
	if (!*err)
		*err = debuginfod_fetch(&options->debuginfod, &options->naming, path,
					invocation->log);
	if (!*err)
		*err = naming_analyze(&options->naming, path, &analysis, depth, &profile);
	if (!*err)
		*err = chosen_narrow(&chosen, profile);
	if (profile)
		profile->origin.asked_servers = options->debuginfod.servers != NULL;
	if (!*err) {
		terminal_end_progress();
		*err = write_report(&report, profile);
	}
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_report = {
	.name = "report",
	.summary = "Show whose code the samples of a recording were taken in",
	.usage = "report [-i FILE] [OPTIONS]",
	.description =
		"Opens with what was recorded and how sure the identities are, ends with what could\n"
		"not be named, why, and what to do about it.",
	.options = report_rows,
	.options_size = sizeof(struct report_options),
	.run = report_run,
};
