// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint info: what is in a recording, and what of it could not be read.
#include "cli/info.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/archived.h"
#include "cli/command.h"
#include "cli/printable.h"
#include "cli/temporary.h"
#include "cli/terminal.h"

struct info_options {
	const char *input;
	bool json;
	uint64_t jobs;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct info_options, field)           \
	}

static const struct option info_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording (perf.data); - for stdin"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_THREADS, 'j', "jobs", "N", jobs, "threads to read with (all processors)"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "nothing on stderr but errors"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "warnings and progress on stderr, too"),
	{ .kind = OPTION_END },
};

static struct imp_error *add_line(struct info *info, char *line)
{
	char **added = line ? array_add(&info->left_out) : NULL;
	if (!added) {
		free(line);
		return &imp_error_no_memory;
	}
	*added = line;
	return NULL;
}

__attribute__((format(printf, 2, 3))) static struct imp_error *leave_out(struct info *info,
									 const char *format, ...)
{
	char *line = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		line = NULL;
	va_end(args);
	return add_line(info, line);
}

static struct imp_error *leave_out_types(struct info *info)
{
	struct imp_error *err = NULL;
	struct contents_row row;
	for (size_t i = 0; !err && info_row(info, i, &row); i++)
		if (!record_type_name(row.type) && row.records)
			err = leave_out(info,
					"%" PRIu64 " records of type %u, which this version does "
					"not know, were stepped over",
					row.records, row.type);
	if (!err && info->contents.rest.records)
		err = leave_out(info, "%" PRIu64 " records of still other types",
				info->contents.rest.records);
	return err;
}

// What is damaged in the features that are read here only.
static struct imp_error *leave_out_damage(struct info *info, unsigned bit)
{
	if (feature_is_kept(bit))
		return NULL;
	struct imp_error *damage = info_show_feature(info, bit, "", NULL);
	if (!damage)
		return NULL;
	struct imp_error *err =
		leave_out(info, "feature %s: %s", feature_name(bit), imp_error_message(damage));
	imp_error_free(damage);
	return err;
}

static struct imp_error *leave_out_features(struct info *info)
{
	struct imp_error *err = NULL;
	for (unsigned bit = 0; !err && bit < FEATURE_BITS; bit++) {
		if (!features_has(recording_features(info->recording), bit))
			continue;
		err = feature_name(bit)
			      ? leave_out_damage(info, bit)
			      : leave_out(info,
					  "header feature %u, which this version does not know",
					  bit);
	}
	return err;
}

// All that was not read, and why, in lines.
static struct imp_error *find_left_out(struct info *info)
{
	struct imp_error *err = leave_out_types(info);
	if (!err)
		err = leave_out_features(info);
	if (!err && info->contents.unreadable_samples)
		err = leave_out(info,
				"%" PRIu64 " samples could not be decoded: damaged, or of an event "
				"that is not described",
				info->contents.unreadable_samples);
	if (!err && info->contents.trace_bytes)
		err = leave_out(info,
				"%" PRIu64 " bytes of AUX traces: they are stepped over, not "
				"decoded",
				info->contents.trace_bytes);
	for (size_t i = 0; !err && i < recording_warning_count(info->recording); i++)
		err = leave_out(info, "%s", recording_warning(info->recording, i));
	return err;
}

bool info_row(const struct info *info, size_t index, struct contents_row *ret)
{
	const struct contents *contents = &info->contents;
	if (index < CONTENTS_KNOWN_TYPES)
		*ret = contents->known[index];
	else if (index - CONTENTS_KNOWN_TYPES < contents->other_count)
		*ret = contents->other[index - CONTENTS_KNOWN_TYPES];
	else
		return false;
	return true;
}

struct imp_error *info_show_feature(const struct info *info, unsigned bit, const char *key,
				    const struct feature_sink *sink)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = recording_read_feature(info->recording, bit, &bytes);
	if (err)
		return err;
	struct cursor payload = cursor_over(bytes.bytes, bytes.size);
	payload.swap = recording_is_swapped(info->recording);
	return feature_show(bit, &payload, recording_features(info->recording), key, sink);
}

static struct imp_error *show(struct info *info, const struct info_options *options,
			      const struct log *log)
{
	struct recording_options how = { .log = log,
					 .workers = (unsigned)options->jobs,
					 .temporary_directory = temporary_directory() };
	struct imp_error *err = recording_open(options->input, &how, &info->recording);
	if (!err)
		err = contents_count(info->recording, &info->contents);
	if (!err)
		err = find_left_out(info);
	if (err)
		return err;
	if (options->json)
		info_print_json(info);
	else
		info_print(info);
	return NULL;
}

static int info_run(const struct invocation *invocation, struct imp_error **err)
{
	struct info_options *options = invocation->options;
	if (invocation->operands.count > 1 || (invocation->operands.count && options->input)) {
		*err = error_new(IMP_ERR_USAGE, "one recording at a time");
		return EXIT_USAGE;
	}
	if (invocation->operands.count)
		options->input = invocation->operands.items[0];
	// Warnings are part of the answer: they need not be said twice.
	terminal_set_level(options->is_quiet || !options->verbose, options->verbose);
	if (!options->input)
		options->input = "perf.data";
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	*err = archived_open(&options->input, NULL, invocation->log, &archive);
	if (*err)
		return EXIT_FAILED;
	struct info info = { 0 };
	*err = show(&info, options, invocation->log);
	for (size_t i = 0; i < info.left_out.count; i++)
		free(info.left_out.items[i]);
	array_fini(&info.left_out);
	contents_fini(&info.contents);
	recording_close(info.recording);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_info = {
	.name = "info",
	.summary = "Show what is in a recording",
	.usage = "info [-i FILE] [--json]",
	.description =
		"Its header features, its events, the records in it by type, what was lost,\n"
		"the time it spans, and what of it could not be read, with the reason.",
	.options = info_rows,
	.options_size = sizeof(struct info_options),
	.run = info_run,
};
