// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Demangled names, each made once.
#ifndef SYMBOLIZE_NAME_POOL_H
#define SYMBOLIZE_NAME_POOL_H

#include "base/error.h"

struct name_pool;

struct imp_error *name_pool_new(struct name_pool **ret) MUST_CHECK;
void name_pool_free(struct name_pool *pool);

// *RET becomes the demangled form of NAME, kept until name_pool_free(), or NAME itself when it is
// not mangled. NAME is known by its pointer, and so must stay as it is as long as the pool. Safe
// from many threads.
struct imp_error *name_pool_demangle(struct name_pool *pool, const char *name,
				     const char **ret) MUST_CHECK;

#endif
