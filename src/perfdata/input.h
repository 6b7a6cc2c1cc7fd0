// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Bytes that can be read at any offset: a file, or what came through a pipe or out of a compressed
// file.
#ifndef PERFDATA_INPUT_H
#define PERFDATA_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct input {
	int fd;
	// For messages. Owned.
	char *path;
	uint64_t size;
};

// A part of a file, as headers name it.
struct section {
	uint64_t offset, size;
};

// Opens PATH ("-": standard input). A pipe is copied, and gzip, xz, zstd and bzip2 are unpacked, to
// a file without a name in DIRECTORY; IMP_ERR_UNSUPPORTED when that would take more than half of
// what is free there.
struct imp_error *input_open(const char *path, const char *directory,
			     struct input **ret) MUST_CHECK;
void input_free(struct input *input);

// Appends up to SIZE bytes at OFFSET; fewer only at the end of the file.
struct imp_error *input_read(const struct input *input, uint64_t offset, size_t size,
			     struct buffer *ret) MUST_CHECK;

// The part of SECTION that the file has.
struct section input_clip(const struct input *input, struct section section);

#endif
