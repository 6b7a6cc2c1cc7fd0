// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The program: finds the command, parses its options, runs it, says what went wrong.
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/archived.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/version.h"

static void print_help(FILE *out)
{
	fputs("Usage: imprint VERB [OPTIONS] [-- COMMAND]\n\n"
	      "A profiler and toolkit whose every answer rests on build IDs: which exact binary\n"
	      "a sample, a mapping, a core file or an address came from, and its name there.\n\n"
	      "Verbs:\n",
	      out);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(out, "  %-12s %s\n", (*command)->name, (*command)->summary);
	fputs("\n'imprint VERB --help' tells its options, 'imprint --version' the parts built in.\n",
	      out);
}

static int usage_error(const char *verb, const char *message)
{
	fprintf(stderr, "imprint%s%s: %s\nTry 'imprint%s%s --help'.\n", *verb ? " " : "", verb,
		message, *verb ? " " : "", verb);
	return EXIT_USAGE;
}

static bool is_reader_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

// Flushes stdout; a full disk must not pass for success. What a reader that has seen enough (head,
// a pager) does not take is no fault to speak of.
static int close_output(int status, const char *verb)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (is_reader_gone())
		return status ? status : EXIT_READER_GONE;
	fprintf(stderr, "imprint %s: cannot write the output\n", verb);
	return status ? status : EXIT_FAILED;
}

// Page faults are a good part of what short work costs: freed memory is kept for the next chunk of
// records and for all threads, what grows large is moved by the kernel instead of copied, and the
// heap is of big pages.
static void prepare_memory(void)
{
	enum { HEAP_STEP = 256 << 20, LARGE = 4 << 20 };
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_STEP);
	mallopt(M_TOP_PAD, HEAP_STEP);
	// Threads ask seldom, and for much.
	mallopt(M_ARENA_MAX, 1);
	// More than what is left of the heap's first step.
	char *first = malloc(LARGE / 4);
	char *end = sbrk(0);
	if (first && end > first)
		memory_is_big(first, (size_t)(end - first));
	free(first);
}

static int report_error(const char *verb, struct imp_error *err)
{
	int status = imp_error_code(err) == IMP_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
	if (status == EXIT_USAGE)
		usage_error(verb, imp_error_message(err));
	else
		fprintf(stderr, "imprint %s: %s\n", verb, imp_error_message(err));
	imp_error_free(err);
	return status;
}

// VERB is the command with those above it.
static int run_command(const struct command *command, const char *verb, int argc, char **argv)
{
	_cleanup_free_ void *options = calloc(1, command->options_size + 1);
	if (!options)
		return report_error(verb, &imp_error_no_memory);
	if (command->defaults)
		command->defaults(options);
	struct invocation invocation = { .command = command,
					 .options = options,
					 .operands = { argv + 1, (size_t)argc - 1 },
					 .log = terminal_log() };
	bool wants_help = false;
	struct imp_error *err = options_parse(command->options, command->stops_at_operand, options,
					      &invocation.operands, &wants_help);
	int status = EXIT_DONE;
	if (!err && wants_help) {
		command_print_help(command, stdout);
	} else if (!err) {
		prepare_memory();
		status = command->run(&invocation, &err);
		archived_close();
		terminal_end_progress();
	}
	options_fini(command->options, options);
	if (err) {
		// A command that answers with a difference has a status of its own for trouble.
		int reported = report_error(verb, err);
		status = status > reported ? status : reported;
	}
	return close_output(status, verb);
}

// Goes down into subcommands ("store add"), then runs.
static int dispatch(const struct command *const *table, int argc, char **argv, const char *above)
{
	const struct command *command = command_find(table, argv[0]);
	if (!command) {
		_cleanup_free_ char *message = NULL;
		if (asprintf(&message, "'%s' is not a command", argv[0]) < 0)
			message = NULL;
		return usage_error(above, message ? message : "not a command");
	}
	char verb[64];
	snprintf(verb, sizeof verb, "%s%s%s", above, *above ? " " : "", command->name);
	if (!command->subcommands)
		return run_command(command, verb, argc, argv);
	if (argc < 2)
		return usage_error(verb, "a command is missing");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		command_print_help(command, stdout);
		return close_output(EXIT_DONE, verb);
	}
	return dispatch(command->subcommands, argc - 1, argv + 1, verb);
}

int main(int argc, char **argv)
{
	// A closed pipe is reported by the write that fails.
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	const char *word = argv[1];
	if (!strcmp(word, "--version")) {
		version_print(stdout);
		return close_output(EXIT_DONE, "--version");
	}
	bool is_help = !strcmp(word, "help");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (is_help && argc == 2)) {
		print_help(stdout);
		return close_output(EXIT_DONE, "--help");
	}
	if (is_help) {
		char help[] = "--help";
		char *words[] = { argv[2], help, NULL };
		return dispatch(commands, 2, words, "");
	}
	if (word[0] == '-')
		return usage_error("", "options come after the verb");
	return dispatch(commands, argc - 1, argv + 1, "");
}
