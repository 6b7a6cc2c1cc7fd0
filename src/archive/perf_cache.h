// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf's build-id cache (~/.debug) and the archives made of it: PATH/ID/elf, debug, vdso, kallsyms.
#ifndef ARCHIVE_PERF_CACHE_H
#define ARCHIVE_PERF_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

enum { PERF_CACHE_PATH_SIZE = 4096 };

struct perf_cached {
	// The path of the image as perf saw it: absolute, or a bracketed name.
	char path[PERF_CACHE_PATH_SIZE];
	struct build_id id;
	// STORE_EXECUTABLE, STORE_DEBUG, STORE_VDSO or STORE_KALLSYMS.
	enum store_role role;
};

// Reads NAME, relative to the cache. False when it is no file's name there.
bool perf_cached_parse(const char *name, struct perf_cached *ret);

#endif
