// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading lines as they come, many at a time where they do.
#include "cli/symbolize_input.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"

enum { STEP_BYTES = 1 << 18 };

// Takes the next word of *AT, which quotes may hold together. NULL at the end.
char *symbolize_word(char **at)
{
	char *start = *at;
	while (isspace((unsigned char)*start))
		start++;
	if (!*start)
		return NULL;
	char quote = *start == '"' || *start == '\'' ? *start++ : '\0';
	char *end = start;
	while (*end && (quote ? *end != quote : !isspace((unsigned char)*end)))
		end++;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

bool symbolize_address_parse(const char *text, bool is_decimal, uint64_t *ret)
{
	bool has_prefix = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	int base = has_prefix || !is_decimal ? 16 : 10;
	char *end;
	errno = 0;
	*ret = strtoull(text, &end, base);
	while (isspace((unsigned char)*end))
		end++;
	return isxdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

// More is waiting to be read, so the answers so far may wait, too.
static bool has_more_input(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	return poll(&input, 1, 0) > 0 && !(input.revents & POLLHUP && !(input.revents & POLLIN));
}

// Appends what there is to read to TEXT, and an end to a last line without one.
static struct imp_error *read_step(struct buffer *text, bool *is_end)
{
	uint8_t *room = buffer_extend(text, STEP_BYTES);
	if (!room)
		return &imp_error_no_memory;
	ssize_t got = read(STDIN_FILENO, room, STEP_BYTES);
	int errnum = errno;
	text->size -= STEP_BYTES - (size_t)(got > 0 ? got : 0);
	if (got < 0 && errnum != EINTR)
		return error_system(errnum, "standard input");
	*is_end = got == 0;
	if (*is_end && text->size && text->bytes[text->size - 1] != '\n')
		buffer_append(text, "\n", 1);
	return text->failed ? &imp_error_no_memory : NULL;
}

// Visits the SIZE bytes of whole lines at TEXT.
static struct imp_error *visit_lines(const struct symbolize_visitor *visitor, char *text,
				     size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			text[i] = '\0';
	struct imp_error *err = visitor->begin && size ? visitor->begin(visitor->arg, text, size)
						       : NULL;
	for (size_t at = 0; at < size && !err;) {
		size_t length = strlen(text + at);
		err = visitor->visit(visitor->arg, text + at);
		at += length + 1;
	}
	return err;
}

struct imp_error *symbolize_input_read(const struct symbolize_visitor *visitor)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = NULL;
	for (bool is_end = false; !is_end && !err;) {
		if (!has_more_input())
			fflush(stdout);
		err = read_step(&text, &is_end);
		const uint8_t *last = err ? NULL : memrchr(text.bytes, '\n', text.size);
		size_t whole = last ? (size_t)(last + 1 - text.bytes) : 0;
		if (!err)
			err = visit_lines(visitor, (char *)text.bytes, whole);
		memmove(text.bytes, text.bytes + whole, text.size - whole);
		text.size -= whole;
	}
	return err;
}
