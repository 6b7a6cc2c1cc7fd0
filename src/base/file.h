// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Whole reads and whole writes of files: short transfers and EINTR end here.
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

// Reads up to SIZE bytes at OFFSET; *got is less only at the end of the file. PATH is for messages.
struct imp_error *file_pread(int fd, const char *path, void *bytes, size_t size, uint64_t offset,
			     size_t *got) MUST_CHECK;

// Reads up to SIZE bytes from where FD stands; *got is less only at the end of the file.
struct imp_error *file_read(int fd, const char *path, void *bytes, size_t size,
			    size_t *got) MUST_CHECK;

struct imp_error *file_write(int fd, const char *path, const void *bytes, size_t size) MUST_CHECK;

// Appends the whole of FD (from where it stands) to RET; refuses more than LIMIT bytes.
struct imp_error *file_slurp(int fd, const char *path, size_t limit, struct buffer *ret) MUST_CHECK;

// The same for the file at PATH. /proc and /sys files, whose size says nothing, are read whole.
struct imp_error *file_slurp_path(const char *path, size_t limit, struct buffer *ret) MUST_CHECK;

#endif
