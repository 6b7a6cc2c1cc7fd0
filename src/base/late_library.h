// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A library that few verbs need, loaded by the first who does: with all that it drags along,
// starting would take several times as long.
//
// base/late/NAME.list names a library and the functions in use; tools/late-library makes
// "base/late/late_NAME.h" of it. Who includes that calls the functions by their own names, after
// late_NAME_load() said that they are there.
#ifndef BASE_LATE_LIBRARY_H
#define BASE_LATE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct late_symbol {
	const char *name;
	// The function pointer that is set.
	void *slot;
};

struct late_library {
	const char *soname, *purpose;
	const struct late_symbol *symbols;
	size_t symbol_count;
	pthread_mutex_t lock;
	bool is_loaded;
};

#define LATE_LIBRARY(soname_, purpose_, symbols_)                            \
	{                                                                    \
		.soname = soname_, .purpose = purpose_, .symbols = symbols_, \
		.symbol_count = sizeof(symbols_) / sizeof((symbols_)[0]),    \
		.lock = PTHREAD_MUTEX_INITIALIZER                            \
	}

// Loads LIBRARY once and sets its pointers, for as long as the process lives. IMP_ERR_UNSUPPORTED
// when it, or a function, is missing. Safe from many threads.
struct imp_error *late_library_load(struct late_library *library) MUST_CHECK;

#endif
