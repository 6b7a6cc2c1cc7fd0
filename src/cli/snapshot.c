// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint snapshot: what runs, or ran, written down.
#include <inttypes.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/pid_list.h"
#include "cli/recording_snapshot.h"
#include "cli/store_use.h"
#include "environment/core.h"
#include "environment/gather.h"
#include "environment/snapshot_file.h"
#include "find/intake.h"

struct snapshot_options {
	struct option_list pids;
	const char *cgroup;
	bool all;
	const char *output;
	const char *proc_root;
	const char *sys_root;
	const char *core;
	const char *input;
	bool capture;
	const char *store;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct snapshot_options, field)       \
	}

static const struct option snapshot_rows[] = {
	ROW(OPTION_LIST, 'p', "pid", "PID", pids, "only this process (may be repeated; PID,PID…)"),
	ROW(OPTION_TEXT, 0, "cgroup", "PATH", cgroup,
	    "only processes in this control group or below"),
	ROW(OPTION_FLAG, 'a', "all", NULL, all, "all processes (the default)"),
	ROW(OPTION_TEXT, 'o', "output", "FILE", output,
	    "where to write; compressed when it ends with .zst (standard output)"),
	ROW(OPTION_TEXT, 0, "proc-root", "DIR", proc_root,
	    "where another machine's or namespace's proc is mounted (/proc)"),
	ROW(OPTION_TEXT, 0, "sys-root", "DIR", sys_root, "where its sysfs is mounted (/sys)"),
	ROW(OPTION_TEXT, 0, "core", "CORE", core,
	    "of the process that this core file was written of"),
	ROW(OPTION_TEXT, 'i', "input", "FILE", input, "of what this recording saw run"),
	ROW(OPTION_FLAG, 0, "capture", NULL, capture, "put the mapped files into the store, too"),
	STORE_OPTION(struct snapshot_options, store),
	{ .kind = OPTION_END },
};

static void tell_what_is_missing(const struct invocation *invocation,
				 const struct snapshot_options *options,
				 const struct snapshot *snapshot)
{
	const char *remedy =
		geteuid() ? "as root, or with CAP_SYS_PTRACE, they can"
			  : "CAP_SYS_PTRACE is missing, or they are protected even from it";
	if (snapshot->forbidden)
		log_message(invocation->log, LOG_WARNING,
			    "%" PRIu64 " %s could not be looked at; %s", snapshot->forbidden,
			    snapshot->forbidden == 1 ? "process" : "processes", remedy);
	size_t without_identity = 0;
	for (size_t i = 0; i < snapshot->images.count; i++) {
		const struct snapshot_image *image = &snapshot->images.items[i];
		if (image->kind == MAPPED_FILE && !*snapshot_image_identity(image).text)
			without_identity++;
	}
	const char *why = options->core	   ? "their ELF headers are not in the core file"
			  : options->input ? "the recording does not tell"
					   : "they could not be opened";
	if (without_identity)
		log_message(invocation->log, LOG_WARNING, "%zu mapped %s of unknown builds: %s",
			    without_identity, without_identity == 1 ? "file is" : "files are", why);
	if (snapshot->gone)
		log_message(invocation->log, LOG_NOTE, "%" PRIu64 " %s ended meanwhile",
			    snapshot->gone, snapshot->gone == 1 ? "process" : "processes");
}

static struct imp_error *capture(void *arg, const struct snapshot_image *image, int fd)
{
	enum intake_outcome outcome;
	return intake_fd(arg, fd, image->path, &outcome);
}

static struct imp_error *take_live(const struct snapshot_options *options, struct intake *intake,
				   struct snapshot **ret)
{
	struct pid_list pids = { 0 };
	struct imp_error *err = pid_list_take(&options->pids, &pids);
	struct gather_options gather = { .proc_root = options->proc_root,
					 .sys_root = options->sys_root,
					 .cgroup = options->cgroup,
					 .pids = pids.items,
					 .pid_count = pids.count,
					 .capture = intake ? capture : NULL,
					 .capture_arg = intake };
	if (!err)
		err = gather_live(&gather, ret);
	array_fini(&pids);
	if (!err && options->pids.count && !(*ret)->processes.count)
		err = error_new(IMP_ERR_USAGE, "no such process: %s", options->pids.items[0]);
	return err;
}

// The same with the store open; what was captured is durable before the snapshot tells of it.
static struct imp_error *take_and_capture(const struct snapshot_options *options,
					  const struct log *log, struct snapshot **ret)
{
	_cleanup_store_ struct store *store = NULL;
	struct store_batch *batch = NULL;
	struct imp_error *err = store_use(options->store, STORE_WRITE, log, &store);
	if (!err)
		err = store_batch_new(store, &batch);
	if (err)
		return err;
	struct intake intake = { .store = store, .batch = batch, .log = log };
	err = take_live(options, &intake, ret);
	struct imp_error *commit = store_batch_commit(batch, NULL);
	if (err)
		imp_error_free(commit);
	return err ? err : commit;
}

// Options that do not go together.
static struct imp_error *check_options(const struct snapshot_options *options)
{
	const char *past = options->core ? "core file" : options->input ? "recording" : NULL;
	if (options->core && options->input)
		return error_new(IMP_ERR_USAGE, "a core file or a recording, not both");
	if (past && options->capture)
		return error_new(IMP_ERR_USAGE, "a %s holds no files to capture", past);
	if (past && (options->pids.count || options->cgroup || options->all || options->proc_root ||
		     options->sys_root))
		return error_new(IMP_ERR_USAGE, "of a %s everything is written down", past);
	return NULL;
}

static struct imp_error *take(const struct snapshot_options *options, const struct log *log,
			      struct snapshot **ret)
{
	if (options->core)
		return core_snapshot(options->core, ret);
	if (options->input)
		return recording_snapshot(options->input, log, ret);
	return options->capture ? take_and_capture(options, log, ret)
				: take_live(options, NULL, ret);
}

static int snapshot_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct snapshot_options *options = invocation->options;
	if (invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, "snapshot takes no operand: %s",
				 invocation->operands.items[0]);
		return EXIT_USAGE;
	}
	*err = check_options(options);
	if (*err)
		return EXIT_USAGE;
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	*err = take(options, invocation->log, &snapshot);
	if (!*err)
		*err = snapshot_write(snapshot, options->output ? options->output : "-");
	if (*err)
		return EXIT_FAILED;
	tell_what_is_missing(invocation, options, snapshot);
	return EXIT_DONE;
}

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "Write down what runs here now, mapping by mapping, by build ID",
	.usage = "snapshot [-p PID | --cgroup PATH | --core CORE | -i FILE] [-o FILE]",
	.description =
		"Each process with its executable mappings, each image once with its build ID\n"
		"(or the SHA-256 of its content), soname and package. The form is described in\n"
		"imprint-snapshot(5).",
	.options = snapshot_rows,
	.options_size = sizeof(struct snapshot_options),
	.run = snapshot_run,
};
