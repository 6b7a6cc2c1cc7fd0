// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of commands, and their help.
#include "cli/command.h"

#include <string.h>

extern const struct command command_archive;
extern const struct command command_census;
extern const struct command command_checkout;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_explain;
extern const struct command command_export;
extern const struct command command_fetch;
extern const struct command command_info;
extern const struct command command_inject;
extern const struct command command_list;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_script;
extern const struct command command_snapshot;
extern const struct command command_stale;
extern const struct command command_gdb;
extern const struct command command_store;
extern const struct command command_symbolize;
extern const struct command command_unarchive;
extern const struct command command_which;

// A row each, so that those who add rows do not meet.
// clang-format off
const struct command *const commands[] = {
	&command_record,
	&command_report,
	&command_list,
	&command_export,
	&command_script,
	&command_symbolize,
	&command_which,
	&command_explain,
	&command_fetch,
	&command_info,
	&command_archive,
	&command_census,
	&command_checkout,
	&command_diff,
	&command_doctor,
	&command_snapshot,
	&command_stale,
	&command_store,
	&command_gdb,
	&command_unarchive,
	&command_inject,
	NULL,
};
// clang-format on

const struct command *command_find(const struct command *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

enum { HELP_COLUMNS = 79 };

// Prints TEXT behind COLUMN with its words filled into lines; an empty line, or the indentation of
// a line, stays.
static void print_filled(const char *text, size_t column, FILE *out)
{
	while (*text) {
		size_t gap = strspn(text, " \n");
		size_t length = strcspn(text + gap, " \n");
		if (gap > 1 && text[0] == '\n') {
			fwrite(text, 1, gap, out);
			const char *line = memrchr(text, '\n', gap);
			column = (size_t)(text + gap - line) - 1;
		} else if (column && column + 1 + length > HELP_COLUMNS) {
			putc('\n', out);
			column = 0;
		} else if (column) {
			putc(' ', out);
			column++;
		}
		fwrite(text + gap, 1, length, out);
		column += length;
		text += gap + length;
	}
	putc('\n', out);
}

void command_print_help(const struct command *command, FILE *out)
{
	fputs("Usage: imprint", out);
	print_filled(command->usage, strlen("Usage: imprint"), out);
	fprintf(out, "\n%s.\n", command->summary);
	if (command->description) {
		putc('\n', out);
		print_filled(command->description, 0, out);
	}
	if (command->subcommands) {
		fputs("\nCommands:\n", out);
		for (const struct command *const *sub = command->subcommands; *sub; sub++)
			fprintf(out, "  %-12s %s\n", (*sub)->name, (*sub)->summary);
		return;
	}
	fputs("\nOptions:\n", out);
	options_print(command->options, out);
}
