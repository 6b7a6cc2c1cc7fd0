// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Streams that compress what is written to them, or unpack what they read, by zstd.
#ifndef BASE_ZSTD_FILE_H
#define BASE_ZSTD_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

// Opens PATH ("-": standard output) for writing, compressed when its name ends with ".zst". The
// file must be closed by zstd_file_close(), which tells whether all of it was written.
struct imp_error *zstd_file_create(const char *path, FILE **ret) MUST_CHECK;
struct imp_error *zstd_file_close(FILE *file, const char *path) MUST_CHECK;

// Opens PATH ("-": standard input) for reading; unpacks it when its first bytes are zstd's. Close
// it with fclose(3). Damage shows as a read error (ferror(3), errno EBADMSG).
struct imp_error *zstd_file_open(const char *path, FILE **ret) MUST_CHECK;

#endif
