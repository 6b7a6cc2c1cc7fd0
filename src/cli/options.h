// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Options of a command as a table of rows: parsing, help and manual pages walk the same rows.
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"

enum option_kind {
	// Ends a table.
	OPTION_END,
	// A heading in the help; `help` is its text.
	OPTION_HEADING,
	// bool: set to true.
	OPTION_FLAG,
	// bool: set to false ("--no-inline" of a field that begins true).
	OPTION_CLEAR,
	// unsigned: one more each time it is given.
	OPTION_COUNT,
	// const char *: the argument, lent by argv.
	OPTION_TEXT,
	// const char *: as OPTION_TEXT, but the argument may be missing, and then is `fallback`. A
	// separate next word
	// is taken only when it begins with one of `words`; "-gWORD" and "--call-graph=WORD" are
	// always taken.
	OPTION_OPTIONAL_TEXT,
	// uint64_t: decimal, 0x hexadecimal, or with a suffix k, M, G (powers of 1024).
	OPTION_NUMBER,
	// uint64_t: how many threads, at most 256 (base/parallel.h).
	OPTION_THREADS,
	// double.
	OPTION_REAL,
	// struct option_list: each argument, in order.
	OPTION_LIST,
};

struct option_list {
	const char **items;
	size_t count;
	size_t room;
};

struct option {
	enum option_kind kind;
	// 0 for none.
	char letter;
	// NULL for none.
	const char *name;
	// What help calls the argument.
	const char *argument;
	const char *help;
	// Where in the command's options struct the value goes.
	size_t offset;
	const char *fallback;
	const char *const *words;
	// Accepted, not shown in help: an alias.
	bool is_hidden;
};

// Words of a command line: before parsing all that come after the verb, afterwards those that are
// no options.
struct operands {
	char **items;
	size_t count;
};

// Parses OPERANDS by OPTIONS into VALUES (the command's struct) and leaves in OPERANDS what is no
// option (the array is reordered). Long names may be abbreviated while unique; flags may be bundled
// ("-ag"); "--" ends the options, and with STOPS_AT_OPERAND so does the first operand. -h and
// --help set *WANTS_HELP. IMP_ERR_USAGE on anything wrong.
struct imp_error *options_parse(const struct option *options, bool stops_at_operand, void *values,
				struct operands *operands, bool *wants_help) MUST_CHECK;

// Frees the lists of VALUES.
void options_fini(const struct option *options, void *values);

// Prints the rows as help of at most 80 columns.
void options_print(const struct option *options, FILE *out);

#endif
