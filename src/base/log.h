// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the library has to say beside its answers: warnings and progress, through the caller's
// callback.
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_WARNING, LOG_NOTE, LOG_DEBUG };

// Lent to whoever may speak. A NULL log, or a NULL callback, is silence. Callbacks may come from
// any thread.
struct log {
	void (*message)(void *arg, enum log_level level, const char *text);
	// DONE of TOTAL units of WHAT ("records read", in bytes, say); TOTAL 0 when not known.
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
};

void log_message(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_progress(const struct log *log, const char *what, uint64_t done, uint64_t total);

#endif
