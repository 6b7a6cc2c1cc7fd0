// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A tar file being written: compressed on the way, under its name only when it is whole.
#ifndef ARCHIVE_TAR_STREAM_H
#define ARCHIVE_TAR_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum tar_compression {
	TAR_PLAIN,
	TAR_ZSTD,
	TAR_GZIP,
	TAR_BZIP2,
	TAR_XZ,
	// zstd, as one frame after the other: contents come as ready frames, what is between them
	// is compressed here. Level and workers are of no matter.
	TAR_FRAMES
};

struct tar_options {
	enum tar_compression compression;
	// 0: the compression's own.
	int level;
	unsigned workers;
	// Looks for repetitions far apart, as between two builds of one program; by zstd only.
	bool is_long;
	// What all members bear as time.
	int64_t time_s;
};

struct tar_stream;

// Begins the file PATH ("-": standard output). Until tar_stream_close() it stands beside under
// another name.
struct imp_error *tar_stream_new(const char *path, const struct tar_options *options,
				 struct tar_stream **ret) MUST_CHECK;
// Gives up; nothing is left behind.
void tar_stream_free(struct tar_stream *stream);
// Completes the file, gives it its name, and frees STREAM in any case.
struct imp_error *tar_stream_close(struct tar_stream *stream) MUST_CHECK;

struct imp_error *tar_stream_memory(struct tar_stream *stream, const char *name, const void *bytes,
				    size_t size) MUST_CHECK;
// SIZE bytes of FD from its beginning; fewer is an error.
struct imp_error *tar_stream_fd(struct tar_stream *stream, const char *name, int fd,
				uint64_t size) MUST_CHECK;
// Begins a member of SIZE bytes, whose contents tar_stream_frames() brings.
struct imp_error *tar_stream_begin(struct tar_stream *stream, const char *name,
				   uint64_t size) MUST_CHECK;
// SIZE bytes of whole or partial frames; with them CONTENT bytes of the member are complete.
// TAR_FRAMES only.
struct imp_error *tar_stream_frames(struct tar_stream *stream, const void *frames, size_t size,
				    uint64_t content) MUST_CHECK;
struct imp_error *tar_stream_link(struct tar_stream *stream, const char *name,
				  const char *target) MUST_CHECK;

DEFINE_CLEANUP(struct tar_stream *, tar_stream, tar_stream_free)

#endif
