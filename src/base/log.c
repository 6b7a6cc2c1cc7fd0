// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Handing messages to the caller's callback.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"

void log_message(const struct log *log, enum log_level level, const char *format, ...)
{
	if (!log || !log->message)
		return;
	va_list args;
	va_start(args, format);
	_cleanup_free_ char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	log->message(log->arg, level, text ? text : format);
}

void log_progress(const struct log *log, const char *what, uint64_t done, uint64_t total)
{
	if (log && log->progress)
		log->progress(log->arg, what, done, total);
}
