// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The file a recording is written to, or the files one after the other: each complete in itself.
#ifndef RECORD_SERIES_H
#define RECORD_SERIES_H

#include "record/event_set.h"
#include "record/output.h"
#include "record/sample_walk.h"
#include "record/tracker.h"

// All lent until series_fini().
struct series_options {
	struct output_options output;
	// What the user typed.
	const char *const *command_line;
	size_t command_line_count;
	const struct event_set *set;
	struct tracker *tracker;
	const struct sample_walk *walk;
	// How many finished files are kept, the oldest going first; 0 is all.
	unsigned most_files;
};

struct series {
	struct series_options options;
	struct written_events written;
	struct output output;
	// Names of the files that were set aside, the oldest first.
	ARRAY_OF(char *) aside;
	uint64_t finished_bytes;
};

// Opens the (next) file and writes what stands before the records.
struct imp_error *series_begin(struct series *series,
			       const struct series_options *options) MUST_CHECK;

// The writer of the present file.
static inline struct writer *series_writer(const struct series *series)
{
	return series->output.writer;
}

// No file was finished yet.
static inline bool series_is_first(const struct series *series)
{
	return !series->aside.count;
}

// Writes what stands behind the records: the file is complete.
struct imp_error *series_finish(struct series *series) MUST_CHECK;
// Gives the finished file a name of its own, lent in *name, and opens the next.
struct imp_error *series_next(struct series *series, const char **name) MUST_CHECK;

// Bytes of all files, those that were taken away too.
uint64_t series_size(const struct series *series);

void series_fini(struct series *series);

#endif
