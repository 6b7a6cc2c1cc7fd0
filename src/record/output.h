// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where a recording goes: a file (an older one steps aside), a series of files, or a stream.
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "perfdata/writer.h"

struct output_options {
	// "-" is standard output. A FIFO or a device is written as a stream.
	const char *path;
	int zstd_level;
	uint32_t most_ring_bytes;
};

// The file being written; its writer has not begun yet.
struct output {
	char *path;
	int fd;
	bool is_stream;
	struct writer *writer;
};

// Opens the file; one that is there already and not empty becomes PATH.old.
struct imp_error *output_open(const struct output_options *options, struct output *ret) MUST_CHECK;
void output_close(struct output *output);

// Gives the finished file a name with the time in it ("perf.data.2026120103150042"); *name, which
// the caller frees, is that.
struct imp_error *output_set_aside(const struct output *output, char **name) MUST_CHECK;

#endif
