// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint gdb`: starts gdb so that a core file's or a process's code is read from the files that
// were mapped, not from what stands at their paths today.
//
// gdb finds libraries by path. Below a sysroot of links each path leads to the file of the build
// that was mapped, wherever it was found; separate debug files gdb finds by build ID.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/naming.h"
#include "cli/places.h"
#include "cli/store_use.h"
#include "cli/sysroot.h"
#include "environment/source.h"
#include "find/intake.h"

extern const struct command command_gdb;

struct gdb_options {
	struct naming naming;
	const char *program;
	bool print;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct gdb_options, field)            \
	}

static const struct option gdb_rows[] = {
	ROW(OPTION_TEXT, 0, "gdb", "PROGRAM", program, "the debugger (gdb)"),
	ROW(OPTION_FLAG, 'n', "dry-run", NULL, print, "only print its command line"),
	FINDING_OPTIONS(struct gdb_options, naming),
	{ .kind = OPTION_END },
};

struct session {
	const struct gdb_options *options;
	const struct log *log;
	// The core file, or NULL and a process.
	const char *core;
	uint32_t pid;
	struct snapshot *snapshot;
	struct finder *finder;
	// The store's directory.
	char *store_dir;
	struct sysroot sysroot;
	// The program's place in it; "" when it was not found.
	char exe[2 * PATH_MAX];
};

// What a process has mapped goes into the store, while it can be read.
static struct imp_error *capture_process(struct session *session)
{
	_cleanup_store_ struct store *store = NULL;
	struct imp_error *err = store_open(session->store_dir, STORE_WRITE, session->log, &store);
	struct intake intake = { .store = store, .log = session->log };
	if (!err)
		err = store_batch_new(store, &intake.batch);
	if (err)
		return err;
	struct intake_counts counts = { 0 };
	bool found = false;
	err = intake_process(&intake, session->pid, &counts, &found);
	if (!err && !found)
		err = error_new(IMP_ERR_USAGE, "%u: no such process", session->pid);
	struct imp_error *failed = store_batch_commit(intake.batch, NULL);
	if (err)
		imp_error_free(failed);
	return err ? err : failed;
}

static struct imp_error *take_snapshot(struct session *session)
{
	if (session->core)
		return source_snapshot(session->core, NULL, &session->snapshot);
	struct imp_error *err = capture_process(session);
	struct gather_options gather = { .pids = &session->pid, .pid_count = 1 };
	return err ? err : source_snapshot(".", &gather, &session->snapshot);
}

// The path of what the process executes: as the kernel says, else of the first file that it has
// mapped.
static void program_of(const struct snapshot *snapshot, char *ret, size_t size)
{
	static const char gone[] = " (deleted)";
	*ret = 0;
	if (!snapshot->processes.count)
		return;
	const struct snapshot_process *process = &snapshot->processes.items[0];
	const char *path = process->exe;
	for (size_t i = 0; i < process->mapping_count && !*path; i++) {
		const struct snapshot_mapping *mapping =
			&snapshot->mappings.items[process->first_mapping + i];
		if (snapshot->images.items[mapping->image].kind == MAPPED_FILE)
			path = snapshot->images.items[mapping->image].path;
	}
	(void)snprintf(ret, size, "%s", path);
	size_t length = strlen(ret);
	size_t end = sizeof gone - 1;
	if (length > end && !strcmp(ret + length - end, gone))
		ret[length - end] = 0;
}

static void find_program(struct session *session)
{
	char path[PATH_MAX];
	program_of(session->snapshot, path, sizeof path);
	if (*path == '/')
		(void)snprintf(session->exe, sizeof session->exe, "%s%s", session->sysroot.dir,
			       path);
	if (access(session->exe, R_OK) < 0)
		session->exe[0] = 0;
}

enum { MOST_ARGUMENTS = 32 };

struct command_line {
	char *items[MOST_ARGUMENTS + 1];
	size_t count;
	bool failed;
};

static void __attribute__((format(printf, 2, 3)))
add(struct command_line *line, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char *text = NULL;
	bool is_made = line->count < MOST_ARGUMENTS && vasprintf(&text, format, list) >= 0;
	va_end(list);
	if (is_made)
		line->items[line->count++] = text;
	else
		line->failed = true;
}

static void command_line_of(const struct session *session, const struct operands *more,
			    struct command_line *line)
{
	const char *program = session->options->program;
	add(line, "%s", program ? program : "gdb");
	add(line, "-iex");
	add(line, "set debug-file-directory %s/executables:%s:/usr/lib/debug", session->store_dir,
	    session->store_dir);
	// The network is used when asked for.
	add(line, "-iex");
	add(line, "set debuginfod enabled off");
	// Of a process whose files are all where they were, gdb needs no other root.
	bool has_sysroot = session->sysroot.linked && (session->core || session->sysroot.elsewhere);
	if (has_sysroot) {
		add(line, "-iex");
		add(line, "set sysroot %s", session->sysroot.dir);
	}
	for (size_t i = 1; i < more->count; i++)
		add(line, "%s", more->items[i]);
	if (session->exe[0] && (has_sysroot || session->core)) {
		add(line, "-se");
		add(line, "%s", session->exe);
	}
	add(line, session->core ? "-c" : "-p");
	if (session->core)
		add(line, "%s", session->core);
	else
		add(line, "%u", session->pid);
}

static void print_line(const struct command_line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		bool is_plain = !strpbrk(line->items[i], " '\"\\$`*?;&|<>()");
		printf(is_plain ? "%s%s" : "%s'%s'", i ? " " : "", line->items[i]);
	}
	putchar('\n');
}

static struct imp_error *run(const struct command_line *line, int *status)
{
	(void)fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		return error_system(errno, "cannot start %s", line->items[0]);
	if (!child) {
		(void)execvp(line->items[0], line->items);
		(void)fprintf(stderr, "imprint: %s: cannot be started: %s\n", line->items[0],
			      strerror(errno));
		_exit(127);
	}
	// Ctrl-C is gdb's.
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return error_system(errno, "cannot wait for %s", line->items[0]);
	return NULL;
}

// A file is a core, digits are a process.
static struct imp_error *read_subject(const char *word, struct session *session)
{
	struct stat stat_;
	bool is_number = *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
	if (!stat(word, &stat_) && S_ISREG(stat_.st_mode))
		session->core = word;
	else if (is_number)
		session->pid = (uint32_t)strtoul(word, NULL, 10);
	else
		return error_new(IMP_ERR_USAGE, "%s: neither a core file nor a process", word);
	return NULL;
}

static struct imp_error *prepare(struct session *session, const char *word)
{
	_cleanup_free_ char *place = naming_own_store(&session->options->naming);
	if (!place)
		return error_new(IMP_ERR_USAGE,
				 "no store is named: set HOME or IMPRINT_STORE, or give --store");
	session->store_dir = place[0] == '/' ? strdup(place) : realpath(place, NULL);
	if (!session->store_dir)
		return error_system(errno, "%s: cannot open the store", place);
	struct imp_error *err = read_subject(word, session);
	if (!err)
		err = take_snapshot(session);
	if (!err)
		err = naming_finder(&session->options->naming, session->log, &session->finder);
	if (!err)
		err = sysroot_make(session->snapshot, session->finder, session->log,
				   &session->sysroot);
	if (!err)
		find_program(session);
	return err;
}

static int gdb_run(const struct invocation *invocation, struct imp_error **err)
{
	struct gdb_options *options = invocation->options;
	if (!invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, "a core file or a process is expected");
		return EXIT_USAGE;
	}
	struct session session = { .options = options, .log = invocation->log };
	struct command_line line = { 0 };
	int status = 0;
	*err = prepare(&session, invocation->operands.items[0]);
	if (!*err)
		command_line_of(&session, &invocation->operands, &line);
	if (!*err && line.failed)
		*err = error_new(IMP_ERR_USAGE, "too many arguments for gdb");
	if (!*err && options->print)
		print_line(&line);
	else if (!*err)
		*err = run(&line, &status);
	for (size_t i = 0; i < line.count; i++)
		free(line.items[i]);
	// Printed to be used, the links stay.
	if (!options->print || *err)
		sysroot_remove(&session.sysroot);
	finder_free(session.finder);
	snapshot_free(session.snapshot);
	free(session.store_dir);
	naming_fini(&options->naming);
	if (*err)
		return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

const struct command command_gdb = {
	.name = "gdb",
	.summary = "Start gdb with the very files that a core or process mapped",
	.usage = "gdb [OPTIONS] CORE|PID [-- GDB-OPTIONS]",
	.description =
		"Replaced and deleted programs and libraries are read from the store (of a PID,\n"
		"they are captured first), each by its build ID; debug files, too.",
	.options = gdb_rows,
	.options_size = sizeof(struct gdb_options),
	.run = gdb_run,
};
