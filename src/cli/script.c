// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint script: a recording's samples one by one, as text.
#include <stdlib.h>
#include <string.h>

#include "analyze/replay.h"
#include "analyze/survivors.h"
#include "cli/archived.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/naming.h"
#include "cli/script_line.h"
#include "cli/temporary.h"
#include "cli/terminal.h"
#include "perfdata/sample.h"

struct script_options {
	const char *input;
	const char *fields;
	bool shows_maps, shows_tasks, shows_namespaces, shows_cgroups, shows_lost;
	bool no_chains;
	bool has_nanoseconds;
	bool is_quiet;
	unsigned verbose;
	struct choice choice;
	struct naming naming;
	struct debuginfod debuginfod;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct script_options, field)         \
	}

static const struct option script_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - for stdin"),
	ROW(OPTION_TEXT, 'F', "fields", "FIELD[,FIELD]", fields,
	    "what to print: comm, tid, pid, cpu, time, period, event, addr, ip, sym, symoff, dso, "
	    "srcline, build_id, cgroup, reason (why there is no name); with + or - before it, one more or less than usual"),
	ROW(OPTION_FLAG, 0, "show-mmap-events", NULL, shows_maps, "also what was mapped"),
	ROW(OPTION_FLAG, 0, "show-task-events", NULL, shows_tasks,
	    "also what processes were called, began and ended"),
	ROW(OPTION_FLAG, 0, "show-namespace-events", NULL, shows_namespaces,
	    "also the namespaces that threads are in"),
	ROW(OPTION_FLAG, 0, "show-cgroup-events", NULL, shows_cgroups, "also the names of cgroups"),
	ROW(OPTION_FLAG, 0, "show-lost-events", NULL, shows_lost, "also what was lost"),
	ROW(OPTION_FLAG, 'G', "hide-call-graph", NULL, no_chains, "no call chains"),
	ROW(OPTION_FLAG, 0, "ns", NULL, has_nanoseconds, "times to the nanosecond"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings, no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (twice: even more)"),
	CHOICE_OPTIONS(struct script_options, choice),
	NAMING_OPTIONS(struct script_options, naming),
	DEBUGINFOD_OPTIONS(struct script_options, debuginfod),
	{ .kind = OPTION_END },
};

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)
DEFINE_CLEANUP(struct stack_walk *, stack_walk, stack_walk_free)
DEFINE_CLEANUP(struct stack_walker *, stack_walker, stack_walker_free)

static struct imp_error *field_find(const char *name, size_t length, unsigned *ret)
{
	for (unsigned i = 0; i < SCRIPT_FIELDS; i++) {
		const char *known = script_field_name(i);
		if (strlen(known) == length && !memcmp(known, name, length)) {
			*ret = i;
			return NULL;
		}
	}
	return error_new(IMP_ERR_USAGE, "option '-F': '%.*s' is not a field", (int)length, name);
}

static struct imp_error *choose_fields(const char *text, bool *shows)
{
	static const unsigned usual[] = { SCRIPT_COMM,	SCRIPT_TID,   SCRIPT_CPU, SCRIPT_TIME,
					  SCRIPT_EVENT, SCRIPT_IP,    SCRIPT_SYM, SCRIPT_SYMOFF,
					  SCRIPT_DSO,	SCRIPT_PERIOD };
	bool is_change = !text || text[0] == '+' || text[0] == '-';
	for (size_t i = 0; is_change && i < sizeof usual / sizeof *usual; i++)
		shows[usual[i]] = true;
	while (text && *text) {
		bool is_less = *text == '-';
		text += *text == '+' || *text == '-';
		size_t length = strcspn(text, ",");
		unsigned field = 0;
		struct imp_error *err = field_find(text, length, &field);
		if (err)
			return err;
		shows[field] = !is_less;
		text += length + (text[length] == ',');
	}
	return NULL;
}

static int longest_name(const struct events *events)
{
	size_t longest = 0;
	for (size_t i = 0; i < events->count; i++) {
		size_t length = strlen(events->items[i].name);
		longest = length > longest ? length : longest;
	}
	return (int)longest;
}

static struct imp_error *take(void *arg, const struct record *record)
{
	struct script_lines *lines = arg;
	return record->type == RECORD_SAMPLE ? script_print_sample(lines, record)
					     : script_print_meta(lines, record);
}

static uint64_t wanted_types(const struct script_options *options)
{
	uint64_t types = UINT64_C(1) << RECORD_SAMPLE;
	if (options->shows_maps)
		types |= UINT64_C(1) << RECORD_MMAP | UINT64_C(1) << RECORD_MMAP2;
	if (options->shows_tasks)
		types |= UINT64_C(1) << RECORD_COMM | UINT64_C(1) << RECORD_FORK |
			 UINT64_C(1) << RECORD_EXIT;
	if (options->shows_namespaces)
		types |= UINT64_C(1) << RECORD_NAMESPACES;
	if (options->shows_cgroups)
		types |= UINT64_C(1) << RECORD_CGROUP;
	if (options->shows_lost)
		types |= UINT64_C(1) << RECORD_LOST | UINT64_C(1) << RECORD_LOST_SAMPLES;
	return types;
}

static struct imp_error *print_all(const struct script_options *options, const struct log *log,
				   const char *path, struct finder *finder, struct chosen *chosen,
				   struct script_lines *lines)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_(cleanup_stack_walk) struct stack_walk *walk = NULL;
	_cleanup_(cleanup_stack_walker) struct stack_walker *walker = NULL;
	struct recording_options recording_options = {
		.log = log, .workers = 1, .temporary_directory = temporary_directory()
	};
	struct imp_error *err = recording_open(path, &recording_options, &recording);
	if (!err)
		err = survey_new(recording, log, &survey);
	if (!err)
		err = survivors_add(recording, survey, finder);
	if (!err)
		err = stack_walk_new(recording, survey->timeline, finder, &walk);
	if (!err)
		err = stack_walker_new(walk, &walker);
	if (err)
		return err;
	if (!options->no_chains)
		err = deferred_chains_new(recording, survey, &lines->deferred);
	if (err)
		return err;
	lines->walker = walker;
	lines->survey = survey;
	if (chosen_samples(chosen))
		err = sample_choice_settle(chosen_samples(chosen), recording_features(recording));
	if (err)
		return err;
	lines->choice = chosen_samples(chosen);
	lines->event_width = longest_name(recording_events(recording));
	struct replay_options replay_options = { .types = wanted_types(options),
						 .take = take,
						 .arg = lines };
	return replay(recording, survey, &replay_options);
}

static int script_run(const struct invocation *invocation, struct imp_error **err)
{
	struct script_options *options = invocation->options;
	terminal_set_level(options->is_quiet, options->verbose);
	struct script_lines lines = { .out = stdout,
				      .has_nanoseconds = options->has_nanoseconds,
				      .no_chains = options->no_chains };
	struct finder *finder = NULL;
	_cleanup_(chosen_fini) struct chosen chosen = { .is_everything = false };
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	*err = invocation->operands.count > 1 ? error_new(IMP_ERR_USAGE, "one recording at a time")
					      : choose_fields(options->fields, lines.shows);
	if (!*err)
		*err = choice_read(&options->choice, &chosen);
	const char *path = options->input		? options->input
			   : invocation->operands.count ? invocation->operands.items[0]
							: "perf.data";
	if (!*err)
		*err = archived_open(&path, &options->naming, invocation->log, &archive);
	if (!*err)
		*err = debuginfod_fetch(&options->debuginfod, &options->naming, path,
					invocation->log);
	if (!*err)
		*err = naming_finder(&options->naming, invocation->log, &finder);
	if (!*err)
		*err = naming_symbolizer(&options->naming, invocation->log, finder,
					 &lines.symbolizer);
	if (!*err)
		*err = print_all(options, invocation->log, path, finder, &chosen, &lines);
	script_lines_fini(&lines);
	symbolizer_free(lines.symbolizer);
	finder_free(finder);
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_script = {
	.name = "script",
	.summary = "Print the samples of a recording one by one",
	.usage = "script [-i FILE] [OPTIONS]",
	.options = script_rows,
	.options_size = sizeof(struct script_options),
	.run = script_run,
};
