// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The passes over the records of streams, by several threads.
#ifndef PERFDATA_SCAN_H
#define PERFDATA_SCAN_H

#include "perfdata/stream.h"

// A first pass, in which where records begin is found while several chunks are read at once. READ
// makes a result of a chunk, going through it to its end; it may be called for a chunk that turns
// out to have been cut wrongly, whose result is given to DISCARD and which is read again. COMMIT
// takes each result exactly once, in file order, never two at once. Results may be NULL. READ
// comes from several threads at once, COMMIT and DISCARD from any.
struct scan {
	struct imp_error *(*read)(void *arg, struct chunk *chunk, void **result);
	struct imp_error *(*commit)(void *arg, void *result);
	void (*discard)(void *arg, void *result);
};

// Sees each chunk of a later pass once.
typedef struct imp_error *recording_visitor(void *arg, unsigned worker, struct chunk *chunk);

// How the passes are made: on how many threads, and who hears of damage and progress.
struct scan_context {
	unsigned workers;
	struct warnings *warnings;
	const struct log *log;
	// Bytes of all streams, and of those done, for progress.
	uint64_t total, done;
};

// Chunks to leave out of a later pass, by the position of their first record.
struct visit_filter {
	bool (*wants)(const void *arg, uint64_t position);
	const void *arg;
};

// The first pass over STREAM; fills what it finds out of it.
struct imp_error *stream_scan(struct stream *stream, struct scan_context *context,
			      const struct scan *scan, void *arg) MUST_CHECK;

// A later pass over STREAMS, which were all scanned. FILTER may be NULL.
struct imp_error *streams_visit(struct stream *streams, size_t count, struct scan_context *context,
				const struct visit_filter *filter, recording_visitor *visit,
				void *arg) MUST_CHECK;

#endif
