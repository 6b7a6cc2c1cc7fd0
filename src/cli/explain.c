// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint explain: where an answer comes from, from the record that mapped the code to its name.
#include "cli/explain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/hits.h"
#include "analyze/survivors.h"
#include "base/json.h"
#include "cli/archived.h"
#include "cli/command.h"
#include "cli/naming.h"
#include "cli/subject.h"
#include "cli/temporary.h"
#include "cli/terminal.h"

enum { EXPLAIN_JSON_VERSION = 1, IMAGES_MOST = 10, NANOSECONDS = 1000000000 };

struct explain_options {
	struct naming naming;
	const char *input;
	uint64_t sample;
	const char *address;
	const char *time;
	uint64_t pid;
	bool json;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct explain_options, field)        \
	}

static const struct option explain_rows[] = {
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "the recording"),
	ROW(OPTION_NUMBER, 0, "sample", "N", sample,
	    "explain sample N, counted from 1 in the order of the file"),
	ROW(OPTION_TEXT, 0, "ip", "ADDR", address, "explain what was at ADDR (hexadecimal) ..."),
	ROW(OPTION_TEXT, 0, "time", "T", time,
	    "... at T seconds, as script prints it (the end) ..."),
	ROW(OPTION_NUMBER, 'p', "pid", "P", pid, "... in process P"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings and no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	NAMING_OPTIONS(struct explain_options, naming),
	{ .kind = OPTION_END },
};

// What all forms of the question need.
struct explaining {
	const struct explain_options *options;
	const struct log *log;
	struct finder *finder;
	struct symbolizer *symbolizer;
	struct recording *recording;
	struct survey *survey;
	struct json json;
};

static void tell(struct explaining *explaining, struct explanation *explanation)
{
	explanation->is_full = explaining->options->verbose;
	if (explaining->options->json)
		explain_print_json(explanation, &explaining->json);
	else
		explain_print(explanation);
}

// Fills in what is known of the image, and of the offset in it.
static struct imp_error *look_up(struct explaining *explaining, struct explanation *it)
{
	struct imp_error *err = finder_find(explaining->finder, it->image, &it->finding);
	if (err || !it->has_offset)
		return err;
	err = symbolize(explaining->symbolizer, it->image, it->offset, false, &it->frames);
	if (!err && it->frames.has_address)
		err = symbolizer_aliases(explaining->symbolizer, it->image, it->frames.address,
					 &it->aliases, &it->alias_first, &it->alias_count);
	return err;
}

// What became of the path since.
static struct imp_error *look_at_path_now(struct explaining *explaining, struct explanation *it)
{
	const struct image *image = it->image;
	it->now = FIND_SKIPPED;
	if (image->kind != IMAGE_USER || !image->path || image->path[0] != '/' || !image->id.size)
		return NULL;
	struct imp_error *err = elf_build_id_read(image->path, &it->now_id);
	if (err)
		it->now = access(image->path, F_OK) ? FIND_ABSENT : FIND_UNREADABLE;
	else if (!it->now_id.size)
		it->now = FIND_NO_ID;
	else
		it->now = build_id_equal(&image->id, &it->now_id) ||
					  (image->id_is_padded &&
					   build_id_equal_padded(&image->id, &it->now_id))
				  ? FIND_MATCH
				  : FIND_OTHER_BUILD;
	imp_error_free(err);
	return evidence_other_builds(explaining->recording, explaining->survey, image, &it->others);
}

static struct imp_error *explain_moment(struct explaining *explaining, struct explanation *it)
{
	const struct timeline *timeline = explaining->survey->timeline;
	const struct moment *moment = &it->moment;
	it->recording = recording_path(explaining->recording);
	it->has_moment = true;
	it->comm = timeline_comm(timeline, moment->pid, moment->tid, moment->timeline_time);
	it->namespaces =
		timeline_namespaces(timeline, moment->pid, moment->tid, moment->timeline_time);
	struct stretch stretch = timeline_stretch(timeline, moment->pid, moment->timeline_time,
						  moment->cpumode, abs_addr_of(moment->address));
	it->unlocated = stretch.reason;
	if (stretch.image == NO_IMAGE)
		return NULL;
	it->image = timeline_image(timeline, stretch.image);
	it->has_offset = true;
	it->offset = file_off_of(moment->address - stretch.base);
	struct imp_error *err = evidence_mapping(explaining->recording, explaining->survey, moment,
						 &stretch, &it->mapping, &it->has_mapping);
	if (!err)
		err = look_at_path_now(explaining, it);
	return err ? err : look_up(explaining, it);
}

static struct imp_error *read_sample(struct explaining *explaining, struct moment *ret)
{
	uint64_t count = 0;
	bool found;
	struct imp_error *err = evidence_sample(explaining->recording, explaining->survey,
						explaining->options->sample, ret, &found, &count);
	if (!err && !found)
		err = error_new(IMP_ERR_USAGE,
				"--sample %" PRIu64 ": there are %" PRIu64 " samples",
				explaining->options->sample, count);
	if (!err && !ret->has_address)
		err = error_new(IMP_ERR_USAGE, "--sample %" PRIu64 ": it has no address",
				explaining->options->sample);
	return err;
}

// The moment that --ip, --time and --pid name.
static struct imp_error *read_moment(const struct explaining *explaining, struct moment *ret)
{
	const struct explain_options *options = explaining->options;
	char *end;
	uint64_t address = strtoull(options->address, &end, 16);
	if (!*options->address || *end)
		return error_new(IMP_ERR_USAGE, "--ip: '%s' is no address", options->address);
	// Addresses of the kernel's half are the kernel's, whatever machine it was.
	unsigned mode = address >> 63 ? MISC_KERNEL : MISC_USER;
	*ret = (struct moment){ .address = address,
				.pid = options->pid ? (uint32_t)options->pid : UINT32_MAX,
				.tid = options->pid ? (uint32_t)options->pid : UINT32_MAX,
				.has_pid = options->pid,
				.has_address = true,
				.timeline_time = UINT64_MAX,
				.cpumode = mode };
	if (mode == MISC_USER && !options->pid)
		return error_new(IMP_ERR_USAGE, "--ip: say in which process with --pid");
	if (!options->time)
		return NULL;
	double seconds = strtod(options->time, &end);
	if (!*options->time || *end || !(seconds >= 0) || seconds > 1e9)
		return error_new(IMP_ERR_USAGE, "--time: '%s' is no time in seconds",
				 options->time);
	ret->time_ns = ret->timeline_time = (uint64_t)llround(seconds * NANOSECONDS);
	ret->has_time = true;
	return NULL;
}

// The images with samples, those with most of them first.
static struct imp_error *explain_images(struct explaining *explaining)
{
	struct hits *hits = NULL;
	struct imp_error *err = hits_count(explaining->recording, explaining->survey, &hits);
	for (unsigned told = 0; told < IMAGES_MOST && !err; told++) {
		size_t most = hits->image_count;
		for (size_t i = 0; i < hits->image_count; i++)
			if (hits->samples[i] &&
			    (most == hits->image_count || hits->samples[i] > hits->samples[most]))
				most = i;
		if (most == hits->image_count)
			break;
		struct explanation it = {
			.recording = recording_path(explaining->recording),
			.image = timeline_image(explaining->survey->timeline, (uint32_t)most),
		};
		err = look_up(explaining, &it);
		if (err)
			break;
		if (!explaining->options->json)
			printf("%s%" PRIu64 " samples\n", told ? "\n" : "", hits->samples[most]);
		tell(explaining, &it);
		hits->samples[most] = 0;
	}
	hits_free(hits);
	return err;
}

static struct imp_error *explain_recording(struct explaining *explaining, const char *path)
{
	const struct explain_options *options = explaining->options;
	const struct recording_options how = { .log = explaining->log,
					       .temporary_directory = temporary_directory() };
	struct explanation it = { 0 };
	struct imp_error *err = recording_open(path, &how, &explaining->recording);
	if (!err)
		err = survey_new(explaining->recording, explaining->log, &explaining->survey);
	if (!err)
		err = survivors_add(explaining->recording, explaining->survey, explaining->finder);
	if (err)
		return err;
	if (!options->sample && !options->address)
		return explain_images(explaining);
	err = options->sample ? read_sample(explaining, &it.moment)
			      : read_moment(explaining, &it.moment);
	if (!err)
		err = explain_moment(explaining, &it);
	if (!err)
		tell(explaining, &it);
	mapping_record_fini(&it.mapping);
	other_builds_fini(&it.others);
	return err;
}

static struct imp_error *explain_subject(struct explaining *explaining,
					 const struct operands *words)
{
	struct subject subject;
	const struct finding *finding;
	struct imp_error *err = subject_read(explaining->finder, words,
					     (uint32_t)explaining->options->pid, &subject);
	if (err)
		return err;
	err = subject_find(explaining->finder, &subject, &finding);
	struct explanation it = { .image = &subject.image,
				  .has_offset = subject.has_offset,
				  .offset = subject.offset };
	if (!err)
		err = look_up(explaining, &it);
	if (!err)
		tell(explaining, &it);
	subject_fini(&subject);
	return err;
}

// WORD is a file or directory that is no ELF file: a recording, then.
static bool is_recording(const char *word)
{
	char magic[4] = "";
	struct stat status;
	if (!strcmp(word, "-"))
		return true;
	if (stat(word, &status) < 0)
		return false;
	if (S_ISDIR(status.st_mode))
		return true;
	_cleanup_close_ int fd = open(word, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && pread(fd, magic, 4, 0) == 4 && memcmp(magic, "\177ELF", 4) != 0;
}

static struct imp_error *explain(struct explaining *explaining, const struct operands *words)
{
	const struct explain_options *options = explaining->options;
	bool is_about_recording = options->input || options->sample || options->address;
	const char *path = options->input ? options->input : "perf.data";
	if (options->sample && options->address)
		return error_new(IMP_ERR_USAGE, "--sample or --ip, not both");
	if (words->count == 1 && !options->input &&
	    (is_about_recording || is_recording(words->items[0]))) {
		is_about_recording = true;
		path = words->items[0];
	} else if (words->count && options->input) {
		return error_new(IMP_ERR_USAGE, "'%s' beside a recording", words->items[0]);
	}
	if (is_about_recording || !words->count)
		return explain_recording(explaining, path);
	return explain_subject(explaining, words);
}

static void begin_json(struct json *json)
{
	*json = (struct json){ .out = stdout };
	json_begin_object(json);
	json_member_string(json, "format", "imprint-explain");
	json_member_uint(json, "version", EXPLAIN_JSON_VERSION);
	json_key(json, "explanations");
	json_begin_array(json);
}

static int explain_run(const struct invocation *invocation, struct imp_error **err)
{
	struct explain_options *options = invocation->options;
	struct explaining explaining = { .options = options, .log = invocation->log };
	terminal_set_level(options->is_quiet, options->verbose);
	if (options->pid > INT32_MAX)
		*err = error_new(IMP_ERR_USAGE, "--pid: no process");
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	if (!*err && options->input)
		*err = archived_open(&options->input, &options->naming, invocation->log, &archive);
	if (!*err)
		*err = naming_finder(&options->naming, invocation->log, &explaining.finder);
	if (!*err)
		*err = naming_symbolizer(&options->naming, invocation->log, explaining.finder,
					 &explaining.symbolizer);
	if (options->json)
		begin_json(&explaining.json);
	if (!*err)
		*err = explain(&explaining, &invocation->operands);
	if (options->json) {
		json_end_array(&explaining.json);
		json_end_object(&explaining.json);
	}
	symbolizer_free(explaining.symbolizer);
	finder_free(explaining.finder);
	survey_free(explaining.survey);
	recording_close(explaining.recording);
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "Tell where an answer comes from: mapping, identity, file, name",
	.usage = "explain [-i FILE] [--sample N | --ip ADDR --time T --pid P] | ID | ELF-FILE",
	.description =
		"Of a recording: which record mapped the code and when, how its build ID is known,\n"
		"each place where its file was looked for and what was there, and the arithmetic\n"
		"from the address to the name; without --sample or --ip of each image with most\n"
		"samples. Of a build ID, an ELF file, or what `imprint which` takes: the search.",
	.options = explain_rows,
	.options_size = sizeof(struct explain_options),
	.run = explain_run,
};
