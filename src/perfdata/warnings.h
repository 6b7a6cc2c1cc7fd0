// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What was wrong with a recording and did not keep it from being read: one line each.
#ifndef PERFDATA_WARNINGS_H
#define PERFDATA_WARNINGS_H

#include <pthread.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"

// After so many, further ones are counted only.
enum { WARNINGS_MOST = 1000 };

// May be added to from any thread. Initialise with warnings_init().
struct warnings {
	pthread_mutex_t lock;
	ARRAY_OF(char *) all;
	size_t dropped;
	const struct log *log;
};

void warnings_init(struct warnings *warnings, const struct log *log);
void warnings_fini(struct warnings *warnings);

// Keeps the line and tells the log. WARNINGS may be NULL: nothing is kept.
void warnings_add(struct warnings *warnings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// Keeps the message of ERROR (if any) behind the formatted text, and frees it.
void warnings_take(struct warnings *warnings, struct imp_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
