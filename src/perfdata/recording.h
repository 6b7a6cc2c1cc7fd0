// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A recording: a perf.data file, pipe, stream or directory, opened for reading records in bounded
// memory.
//
// What it says of itself (events, features, build-ID table) is read when it is opened. Records are
// then read in chunks of whole records, by as many threads as wanted, as often as wanted, each time
// with the same positions.
#ifndef PERFDATA_RECORDING_H
#define PERFDATA_RECORDING_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/log.h"
#include "perfdata/chunk.h"
#include "perfdata/feature.h"
#include "perfdata/record.h"
#include "perfdata/scan.h"

struct recording;

struct recording_options {
	// Lent until recording_close(); NULL for silence.
	const struct log *log;
	// Threads to read with; 0: one for each processor.
	unsigned workers;
	// Where what cannot be read in place is unpacked to; NULL: /tmp.
	const char *temporary_directory;
};

// Opens PATH: a file, a directory, or "-" for standard input; .gz, .xz and .zst are unpacked to a
// temporary file that has no name, and so is a pipe. OPTIONS may be NULL. Fails only when nothing
// can be read at all; everything less is a warning (recording_warnings()).
struct imp_error *recording_open(const char *path, const struct recording_options *options,
				 struct recording **ret) MUST_CHECK;
void recording_close(struct recording *recording);

const char *recording_path(const struct recording *recording);
const struct events *recording_events(const struct recording *recording);
const struct features *recording_features(const struct recording *recording);

enum recording_mode { RECORDING_FILE, RECORDING_PIPE, RECORDING_DIRECTORY };
enum recording_mode recording_mode(const struct recording *recording);
bool recording_is_swapped(const struct recording *recording);
// Bytes of records, compressed as they are; for progress.
uint64_t recording_size_bytes(const struct recording *recording);

// What was wrong or left out, in the order found: one line each, naming the offset. Lent, grows
// while reading.
size_t recording_warning_count(const struct recording *recording);
const char *recording_warning(const struct recording *recording, size_t index);

// Entries of the header's BUILD_ID table, in file order (in-stream HEADER_BUILD_ID are records and
// not among them).
size_t recording_build_id_count(const struct recording *recording);
const struct build_id_record *recording_build_id(const struct recording *recording, size_t index);

struct imp_error *recording_scan(struct recording *recording, const struct scan *scan,
				 void *arg) MUST_CHECK;

// A later pass: VISIT sees each chunk once, in any order, on workers 0..recording_workers()-1, each
// worker one chunk at a time. Begins with an empty recording_scan() if there was none yet.
struct imp_error *recording_visit(struct recording *recording, recording_visitor *visit,
				  void *arg) MUST_CHECK;
// The same, without the chunks that FILTER does not want; those that come out of compressed records
// are visited all.
struct imp_error *recording_visit_some(struct recording *recording,
				       const struct visit_filter *filter, recording_visitor *visit,
				       void *arg) MUST_CHECK;
unsigned recording_workers(const struct recording *recording);

// Of compressed records, once scanned: how many, their bytes in the file, and the bytes of the
// records in them.
void recording_compression(const struct recording *recording, uint64_t *records, uint64_t *bytes,
			   uint64_t *inflated_bytes);

// Appends the payload of feature BIT as it stands in the file, in its byte order; nothing without
// the feature.
struct imp_error *recording_read_feature(const struct recording *recording, unsigned bit,
					 struct buffer *ret) MUST_CHECK;

#endif
