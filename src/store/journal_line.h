// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One line of a journal, as text and back; journal.h tells its form.
#ifndef STORE_JOURNAL_LINE_H
#define STORE_JOURNAL_LINE_H

#include "base/buffer.h"
#include "store/journal.h"

// Appends PATH as a line has it: "-" for none, %XX for what would break the line.
void journal_path_format(struct buffer *out, const char *path);

void journal_line_format(struct buffer *out, const struct journal_line *line);

// Reads one line of LENGTH bytes, NUL-terminated and without its newline; TEXT is written to. False
// when it is no whole line; else RET's path is the caller's.
bool journal_line_parse(char *text, size_t length, struct journal_line *ret);

#endif
