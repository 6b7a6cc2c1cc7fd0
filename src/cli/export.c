// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint export: a recording as another program's file.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "base/buffer.h"
#include "cli/archived.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/naming.h"
#include "cli/temporary.h"
#include "cli/terminal.h"
#include "render/export/exporter.h"

struct export_options {
	const char *input;
	const char *format;
	const char *output;
	bool is_quiet;
	unsigned verbose;
	uint64_t workers;
	struct choice choice;
	struct naming naming;
	struct debuginfod debuginfod;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct export_options, field)         \
	}

static const struct option export_rows[] = {
	ROW(OPTION_TEXT, 0, "to", "FORMAT", format,
	    "flamegraph (a page), folded, pprof, speedscope"),
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - for stdin"),
	ROW(OPTION_TEXT, 'o', "output", "FILE", output, "where to write (standard output)"),
	ROW(OPTION_THREADS, 'j', "jobs", "N", workers, "threads (one for each processor)"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings, no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (twice: even more)"),
	CHOICE_OPTIONS(struct export_options, choice),
	NARROWING_OPTIONS(struct export_options, choice),
	NAMING_OPTIONS(struct export_options, naming),
	DEBUGINFOD_OPTIONS(struct export_options, debuginfod),
	{ .kind = OPTION_END },
};

static struct imp_error *choose(const struct export_options *options, const struct exporter **ret)
{
	*ret = options->format ? exporter_find(options->format) : NULL;
	if (*ret)
		return NULL;
	_cleanup_buffer_ struct buffer names = { 0 };
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		buffer_format(&names, "%s%s", exporter == exporters ? "" : ", ", exporter->name);
	buffer_append(&names, "", 1);
	if (names.failed)
		return &imp_error_no_memory;
	const char *all = (const char *)names.bytes;
	if (!options->format)
		return error_new(IMP_ERR_USAGE, "--to is missing; there are %s", all);
	return error_new(IMP_ERR_USAGE, "'%s' is not a format; there are %s", options->format, all);
}

static struct imp_error *write_to(const struct exporter *exporter, const struct profile *profile,
				  const char *path)
{
	if (!path || !strcmp(path, "-")) {
		if (exporter->is_binary && isatty(STDOUT_FILENO))
			return error_new(IMP_ERR_USAGE,
					 "%s is no text: name a file with -o, or redirect",
					 exporter->name);
		return exporter->write(profile, stdout);
	}
	FILE *out = fopen(path, "we");
	if (!out)
		return error_system(errno, "cannot write %s", path);
	struct imp_error *err = exporter->write(profile, out);
	bool is_broken = ferror(out) != 0;
	if ((fclose(out) || is_broken) && !err)
		err = error_system(errno, "cannot write %s", path);
	return err;
}

static int export_run(const struct invocation *invocation, struct imp_error **err)
{
	struct export_options *options = invocation->options;
	terminal_set_level(options->is_quiet, options->verbose);
	const struct exporter *exporter = NULL;
	_cleanup_(chosen_fini) struct chosen chosen = { .is_everything = false };
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	*err = invocation->operands.count > 1 ? error_new(IMP_ERR_USAGE, "one recording at a time")
					      : choose(options, &exporter);
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
		.with_chains = true,
		.by_pid = exporter->wants_threads,
		.by_tid = exporter->wants_threads,
		.choice = chosen_samples(&chosen),
	};
	*err = archived_open(&path, &options->naming, invocation->log, &archive);
	enum naming_depth depth = exporter->wants_lines ? NAMING_LINES : NAMING_FUNCTIONS;
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
		*err = write_to(exporter, profile, options->output);
	}
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_export = {
	.name = "export",
	.summary = "Write a recording in another program's format",
	.usage = "export --to FORMAT [-i FILE] [-o FILE] [OPTIONS]",
	.options = export_rows,
	.options_size = sizeof(struct export_options),
	.run = export_run,
};
