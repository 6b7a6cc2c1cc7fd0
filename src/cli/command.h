// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A command of the program: one file, one descriptor, one row in the table of command.c.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/log.h"
#include "cli/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_DIFFERENT = 1,
	EXIT_USAGE = 2,
	EXIT_TROUBLE = 2,
	// As the shell tells of a program that SIGPIPE ended.
	EXIT_READER_GONE = 141
};

// What a command is given. Options are parsed already.
struct invocation {
	const struct command *command;
	// The command's options struct, zeroed and then filled (command->defaults, if any, first).
	void *options;
	struct operands operands;
	// Writes warnings and progress to stderr as -q and -v say.
	const struct log *log;
};

struct command {
	const char *name;
	// One line for `imprint --help`, no full stop.
	const char *summary;
	// After "imprint ": "report [-i FILE] [OPTIONS]".
	const char *usage;
	// A few lines for `imprint VERB --help`; may be NULL.
	const char *description;
	// Ends with { OPTION_END }.
	const struct option *options;
	size_t options_size;
	// Called before parsing to set what does not begin as zero; NULL when all does.
	void (*defaults)(void *options);
	// Operands begin a foreign command line (record): options end at the first of them.
	bool stops_at_operand;
	// Commands below this one ("store add"); a NULL-terminated array or NULL. `run` is then not
	// used.
	const struct command *const *subcommands;
	// Does the work and gives the exit status. An error in *err is printed by main, with exit
	// status 1 (2 for IMP_ERR_USAGE).
	int (*run)(const struct invocation *invocation, struct imp_error **err);
};

// All commands in the order of `imprint --help`; ends with NULL.
extern const struct command *const commands[];

// The command NAME among TABLE, or NULL.
const struct command *command_find(const struct command *const *table, const char *name);

// Help of COMMAND, whose full name ("store add") is NAME.
void command_print_help(const struct command *command, FILE *out);

#endif
