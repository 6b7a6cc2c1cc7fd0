// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing bytes as a gzip file.
#ifndef RENDER_EXPORT_GZIP_H
#define RENDER_EXPORT_GZIP_H

#include <stdio.h>

#include "base/error.h"

// The same bytes give the same file: no time and no name stand in it.
struct imp_error *gzip_write(FILE *out, const void *bytes, size_t size) MUST_CHECK;

#endif
