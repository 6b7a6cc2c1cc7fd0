// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint which: the file behind a build ID, an address of a process, a line of its maps.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/naming.h"
#include "cli/subject.h"
#include "cli/terminal.h"

enum { WHICH_JSON_VERSION = 1 };

struct which_options {
	struct naming naming;
	bool wants_debug;
	bool is_long;
	bool json;
	const char *copy;
	uint64_t pid;
	const char *snapshot;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct which_options, field)          \
	}

static const struct option which_rows[] = {
	ROW(OPTION_FLAG, 'd', "debug", NULL, wants_debug,
	    "the file of this build that tells most of names and lines"),
	ROW(OPTION_TEXT, 'c', "copy", "TO", copy, "also copy it to the file or directory TO"),
	ROW(OPTION_FLAG, 'l', "long", NULL, is_long,
	    "the build ID, what the file has of names, the source that had it, the path"),
	ROW(OPTION_NUMBER, 'p', "pid", "PID", pid, "the process whose line of maps it is"),
	ROW(OPTION_TEXT, 0, "snapshot", "FILE", snapshot,
	    "ADDR or PATH is of a process (--pid) in this snapshot or core file"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	FINDING_OPTIONS(struct which_options, naming),
	{ .kind = OPTION_END },
};

// What is printed.
struct answer {
	const struct subject *subject;
	const struct finding *finding;
	// The file, opened, and its path; NULL when it was not found.
	const struct elf_image *file;
	const char *source;
	elf_addr address;
	bool has_address;
};

static const struct find_step *step_of(const struct finding *finding, const char *place)
{
	for (size_t i = 0; i < finding->step_count; i++)
		if (finding->steps[i].outcome == FIND_MATCH &&
		    !strcmp(finding->steps[i].place, place))
			return &finding->steps[i];
	return NULL;
}

static struct answer answer_of(const struct which_options *options, const struct subject *subject,
			       const struct finding *finding)
{
	struct answer answer = { .subject = subject, .finding = finding };
	answer.file = options->wants_debug || !finding->image ? finding->debug : finding->image;
	if (!options->wants_debug && !finding->image && subject->image.kind == IMAGE_USER)
		// Only a debug file, and the program was asked for.
		answer.file = NULL;
	if (options->wants_debug && answer.file && find_rank_of(answer.file) < RANK_DEBUGDATA)
		answer.file = NULL;
	if (answer.file) {
		const struct find_step *step = step_of(finding, elf_image_path(answer.file));
		answer.source = step ? step->source : "path";
	}
	if (subject->has_offset)
		answer.has_address = finding_address(finding, &subject->image, subject->offset,
						     &answer.address) == KNOWN;
	return answer;
}

static void print_json(const struct answer *answer)
{
	struct json json = { .out = stdout };
	const struct subject *subject = answer->subject;
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-which");
	json_member_uint(&json, "version", WHICH_JSON_VERSION);
	json_member_string(&json, "build_id",
			   subject->image.id.size ? build_id_text(&subject->image.id).text : NULL);
	json_member_string(&json, "kind", image_kind_name(subject->image.kind));
	json_member_string(&json, "mapped_path", subject->path);
	json_member_string(&json, "file", answer->file ? elf_image_path(answer->file) : NULL);
	json_member_string(&json, "source", answer->source);
	json_member_string(&json, "has",
			   answer->file ? find_rank_name(find_rank_of(answer->file)) : NULL);
	json_member_bool(&json, "forced", answer->finding->is_forced);
	if (subject->has_offset)
		json_member_hex(&json, "offset", subject->offset.value);
	if (answer->has_address)
		json_member_hex(&json, "address", answer->address.value);
	if (!answer->file)
		json_member_string(&json, "unknown", unknown_reason_name(answer->finding->reason));
	json_end_object(&json);
}

static void print_text(const struct which_options *options, const struct answer *answer)
{
	if (options->is_long)
		printf("%s %s %s ", build_id_text(&answer->subject->image.id).text,
		       find_rank_name(find_rank_of(answer->file)), answer->source);
	printf("%s", elf_image_path(answer->file));
	if (answer->has_address)
		printf(" 0x%" PRIx64, answer->address.value);
	putchar('\n');
}

static struct imp_error *not_found(const struct which_options *options, const struct answer *answer)
{
	const struct subject *subject = answer->subject;
	const struct finding *finding = answer->finding;
	struct build_id_text id = build_id_text(&subject->image.id);
	if (!subject->image.id.size)
		return error_new(IMP_ERR_MISMATCH, "%s: %s",
				 subject->path ? subject->path : "the mapping",
				 "it has no build ID, so no file can be shown to be it");
	if (finding->reason == KNOWN)
		return error_new(IMP_ERR_SYSTEM,
				 options->wants_debug
					 ? "%s: no file of this build has more than .dynsym; "
					   "'imprint explain %s' tells where was looked"
					 : "%s: only its debug file was found; "
					   "'imprint explain %s' tells where was looked",
				 id.text, id.text);
	if (finding->reason == UNKNOWN_OTHER_BUILD)
		return error_new(IMP_ERR_MISMATCH,
				 "%s: wanted %s, there is %s now; 'imprint explain %s' tells where "
				 "was looked",
				 subject->path, id.text, build_id_text(&finding->other).text,
				 id.text);
	return error_new(IMP_ERR_SYSTEM,
			 "%s: %s (%zu places; 'imprint explain %s' lists them, "
			 "'imprint fetch %s' asks debuginfod servers)",
			 id.text, unknown_reason_sentence(finding->reason), finding->step_count,
			 id.text, id.text);
}

// TO, or a file in it called as FROM when it is a directory.
static char *destination(const char *to, const char *from)
{
	struct stat status;
	char *path = NULL;
	const char *slash = strrchr(from, '/');
	if (stat(to, &status) || !S_ISDIR(status.st_mode))
		return strdup(to);
	return asprintf(&path, "%s/%s", to, slash ? slash + 1 : from) < 0 ? NULL : path;
}

// Copies the bytes that were verified, not what may be at the path by now.
static struct imp_error *copy(const struct which_options *options, const struct answer *answer)
{
	const char *name = answer->subject->path ? answer->subject->path
						 : elf_image_path(answer->file);
	_cleanup_free_ char *path = destination(options->copy, name);
	if (!path)
		return &imp_error_no_memory;
	size_t size;
	const void *bytes = elf_image_bytes(answer->file, &size);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);
	if (fd < 0)
		return error_system(errno, "%s: cannot create", path);
	struct imp_error *err = file_write(fd, path, bytes, size);
	if (!err && close(steal_fd(&fd)) < 0)
		err = error_system(errno, "%s: cannot write", path);
	return err;
}

static struct imp_error *which(const struct which_options *options, struct finder *finder,
			       struct subject *subject)
{
	const struct finding *finding;
	struct imp_error *err = subject_find(finder, subject, &finding);
	if (err)
		return err;
	struct answer answer = answer_of(options, subject, finding);
	if (options->json)
		print_json(&answer);
	if (!answer.file)
		return not_found(options, &answer);
	if (!options->json)
		print_text(options, &answer);
	return options->copy ? copy(options, &answer) : NULL;
}

static int which_run(const struct invocation *invocation, struct imp_error **err)
{
	struct which_options *options = invocation->options;
	struct subject subject = { 0 };
	_cleanup_finder_ struct finder *finder = NULL;
	terminal_set_level(options->is_quiet, options->verbose);
	if (options->pid > INT32_MAX)
		*err = error_new(IMP_ERR_USAGE, "--pid: no process");
	if (!*err)
		*err = naming_finder(&options->naming, invocation->log, &finder);
	if (!*err && options->snapshot)
		*err = subject_read_snapshot(options->snapshot, &invocation->operands,
					     (uint32_t)options->pid, &subject);
	else if (!*err)
		*err = subject_read(finder, &invocation->operands, (uint32_t)options->pid,
				    &subject);
	if (!*err)
		*err = which(options, finder, &subject);
	subject_fini(&subject);
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_which = {
	.name = "which",
	.summary = "Show the file behind a build ID or an address",
	.usage = "which [--debug] [--copy TO] ID | FILE | [--snapshot FILE] PID ADDR|PATH | LINE",
	.description =
		"ID is a build ID or at least six of its first digits; ADDR is hexadecimal; LINE\n"
		"is a line of /proc/PID/maps. The file is verified by its own build ID. For an\n"
		"address, what symbol tables call it follows.",
	.options = which_rows,
	.options_size = sizeof(struct which_options),
	.run = which_run,
};
