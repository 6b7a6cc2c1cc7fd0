// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Errors: a code, and a message that grows at its front while it travels up.
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct imp_error {
	enum imp_error_code code;
	char *message;
};

static char no_memory_message[] = "out of memory";
struct imp_error imp_error_no_memory = { IMP_ERR_NO_MEMORY, no_memory_message };

enum imp_error_code imp_error_code(const struct imp_error *error)
{
	return error->code;
}

const char *imp_error_message(const struct imp_error *error)
{
	return error->message;
}

void imp_error_free(struct imp_error *error)
{
	if (!error || error == &imp_error_no_memory)
		return;
	free(error->message);
	free(error);
}

// Takes MESSAGE (NULL when making it failed).
__attribute__((returns_nonnull)) static struct imp_error *error_from(enum imp_error_code code,
								     char *message)
{
	struct imp_error *error = message ? malloc(sizeof *error) : NULL;
	if (!error) {
		free(message);
		return &imp_error_no_memory;
	}
	*error = (struct imp_error){ code, message };
	return error;
}

__attribute__((format(printf, 1, 0))) static char *text_format(const char *format, va_list args)
{
	char *text = NULL;
	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

struct imp_error *error_new(enum imp_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *message = text_format(format, args);
	va_end(args);
	return error_from(code, message);
}

// "FRONT: BACK" in memory of its own, or NULL.
static char *text_join(const char *front, const char *back)
{
	char *joined = NULL;
	if (!front || asprintf(&joined, "%s: %s", front, back) < 0)
		return NULL;
	return joined;
}

struct imp_error *error_system(int errnum, const char *format, ...)
{
	char reason[128];
	const char *text = strerror_r(errnum, reason, sizeof reason);
	va_list args;
	va_start(args, format);
	_cleanup_free_ char *front = text_format(format, args);
	va_end(args);
	return error_from(IMP_ERR_SYSTEM, text_join(front, text));
}

struct imp_error *error_context(struct imp_error *error, const char *format, ...)
{
	if (error == &imp_error_no_memory)
		return error;
	va_list args;
	va_start(args, format);
	_cleanup_free_ char *front = text_format(format, args);
	va_end(args);
	char *joined = text_join(front, error->message);
	if (joined) {
		free(error->message);
		error->message = joined;
	}
	return error;
}
