// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint inject: a recording of others written anew, with build IDs where they can be known.
#include <stdio.h>

#include "cli/command.h"
#include "cli/temporary.h"
#include "record/inject.h"

struct inject_arguments {
	const char *input, *output;
	bool without_ids;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct inject_arguments, field)       \
	}

static const struct option inject_command_options[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - is a pipe"),
	ROW(OPTION_TEXT, 'o', "output", "FILE", output, "where it goes; - is standard output"),
	ROW(OPTION_FLAG, 0, "convert-only", NULL, without_ids, "add no build ID"),
	{ .kind = OPTION_END },
};

static void inject_defaults(void *values)
{
	struct inject_arguments *arguments = values;
	arguments->input = "perf.data";
}

static int inject_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct inject_arguments *arguments = invocation->options;
	struct recording *recording = NULL;
	struct recording_options open = { .log = invocation->log,
					  .temporary_directory = temporary_directory() };
	if (!arguments->output || invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, arguments->output ? "operands are not expected"
								  : "-o FILE is missing");
		return EXIT_USAGE;
	}
	*err = recording_open(arguments->input, &open, &recording);
	if (*err)
		return EXIT_FAILED;
	struct inject_options options = { .log = invocation->log,
					  .output = arguments->output,
					  .without_ids = arguments->without_ids };
	struct inject_counts counts = { 0 };
	*err = inject(recording, &options, &counts);
	for (size_t i = 0; i < recording_warning_count(recording); i++)
		log_message(invocation->log, LOG_WARNING, "%s", recording_warning(recording, i));
	recording_close(recording);
	if (*err)
		return EXIT_FAILED;
	fprintf(stderr,
		"imprint inject: %llu records; mappings of files: %llu had a build ID, %llu were "
		"given one, %llu have none\n",
		(unsigned long long)counts.records, (unsigned long long)counts.had_id,
		(unsigned long long)counts.given, (unsigned long long)counts.left);
	return EXIT_DONE;
}

const struct command command_inject = {
	.name = "inject",
	.summary = "Add build IDs to a recording, where they can be known",
	.usage = "inject [-i FILE] -o FILE [--convert-only]",
	.description =
		"Writes the recording anew as a plain file: pipes are converted, compressed records\n"
		"inflated, everything else kept byte for byte. A mapping gets the build ID of the file\n"
		"at its path only when that file is the recorded inode on the recorded host, unchanged\n"
		"since before the recording began.",
	.options = inject_command_options,
	.options_size = sizeof(struct inject_arguments),
	.defaults = inject_defaults,
	.run = inject_run,
};
