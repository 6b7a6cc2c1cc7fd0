// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The lines and words that `imprint symbolize` reads.
#ifndef CLI_SYMBOLIZE_INPUT_H
#define CLI_SYMBOLIZE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

// Takes the next word of *AT, which quotes may hold together. NULL at the end. The text is changed.
char *symbolize_word(char **at);

// An address: hexadecimal, or decimal without 0x where IS_DECIMAL. False when TEXT is none.
bool symbolize_address_parse(const char *text, bool is_decimal, uint64_t *ret);

struct symbolize_visitor {
	void *arg;
	// The lines that were read together, each with a NUL at its end, before the first of them
	// is visited. NULL: nobody wants to know.
	struct imp_error *(*begin)(void *arg, const char *lines, size_t size);
	// One of them, which may be changed.
	struct imp_error *(*visit)(void *arg, char *line);
};

// Reads standard input to its end. Standard output is flushed before more has to be waited for.
struct imp_error *symbolize_input_read(const struct symbolize_visitor *visitor) MUST_CHECK;

#endif
