// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making errors and adding what only one level knows to them on their way up.
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

#include "base/cleanup.h"
#include "imprint/error.h"

// Put on every fallible function: its error must not be dropped.
#define MUST_CHECK __attribute__((warn_unused_result))

// The error for a failed allocation: static, so that reporting it needs no memory.
extern struct imp_error imp_error_no_memory;

// A new error of CODE with a formatted message. Never NULL: falls back to imp_error_no_memory.
struct imp_error *error_new(enum imp_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

// A new IMP_ERR_SYSTEM error: the formatted message, ": " and the text of ERRNUM (a positive errno
// value).
struct imp_error *error_system(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

// Puts the formatted text and ": " before ERROR's message, and returns ERROR.
struct imp_error *error_context(struct imp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull, nonnull(1), warn_unused_result));

DEFINE_CLEANUP(struct imp_error *, error, imp_error_free)
#define _cleanup_error_ __attribute__((cleanup(cleanup_error)))

#endif
