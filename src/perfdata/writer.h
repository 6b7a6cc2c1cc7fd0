// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing a recording, as a file or as a stream, in one pass.
//
// A file is, in this order: header, IDs, attrs, records, feature table, features. Its header is
// written first without features and with the size of the records so far, brought up to date at
// each writer_checkpoint(), and rewritten whole by writer_finish(): a file whose writer was killed
// can be read up to the last checkpoint by anybody, and beyond by who walks the records to the end.
// A stream carries the same as records: attrs, features, then what is written.
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include <sys/uio.h>

#include "base/error.h"
#include "perfdata/feature_encode.h"

struct writer;

struct writer_options {
	bool is_stream;
	// 0: not compressed.
	int zstd_level;
	// The most bytes that will be given to writer_ring() at once; recorded for readers of
	// compressed recordings, who take this much memory.
	uint32_t most_ring_bytes;
};

// Writes to FD (lent; at offset 0 of an empty file, or anything for a stream). PATH is for
// messages.
struct imp_error *writer_new(int fd, const char *path, const struct writer_options *options,
			     struct writer **ret) MUST_CHECK;
void writer_free(struct writer *writer);

// A feature's payload. In a stream, features must come before writer_begin(); in a file they may
// come until writer_finish(), and one given twice replaces the first.
struct imp_error *writer_feature(struct writer *writer, unsigned bit, const void *bytes,
				 size_t size) MUST_CHECK;

// Writes what stands before the records. EVENTS are copied as far as they are needed later.
struct imp_error *writer_begin(struct writer *writer, const struct written_event *events,
			       size_t count) MUST_CHECK;

// Whole records, never compressed. Few are copied and written later, in order.
struct imp_error *writer_records(struct writer *writer, const void *bytes, size_t size) MUST_CHECK;

// Whole records from a ring (in two pieces where it wraps), compressed if that was asked for.
// Written, with all that waited, before this returns.
struct imp_error *writer_ring(struct writer *writer, const struct iovec *parts,
			      int count) MUST_CHECK;

// Writes what waits and says so in the file's header.
struct imp_error *writer_checkpoint(struct writer *writer) MUST_CHECK;

// After a write has failed: makes a file's header tell of the records that were written whole.
struct imp_error *writer_rescue(struct writer *writer) MUST_CHECK;

// Bytes written and waiting.
uint64_t writer_size(const struct writer *writer);

// Writes what waits, features and header. The writer can only be freed afterwards.
struct imp_error *writer_finish(struct writer *writer) MUST_CHECK;

#endif
