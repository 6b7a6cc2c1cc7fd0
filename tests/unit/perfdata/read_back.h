// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads a made recording whole and keeps what came, for tests to look at.
#ifndef UNIT_READ_BACK_H
#define UNIT_READ_BACK_H

#include "perfdata/recording.h"

struct kept_record {
	struct record record;
	// The record's own bytes; record.bytes lends them.
	uint8_t *bytes;
};

struct read_back {
	struct recording *recording;
	struct kept_record *items;
	size_t count;
	size_t room;
	// Of records by type, those below 128.
	uint64_t by_type[128];
	// Results that were given back as cut wrongly.
	unsigned discarded;
};

// Opens PATH with WORKERS threads and scans it. The error of either.
struct imp_error *read_back_path(const char *path, unsigned workers,
				 struct read_back *ret) MUST_CHECK;
// The same for BYTES, through a temporary file; with one worker.
struct imp_error *read_back(const struct buffer *bytes, struct read_back *ret) MUST_CHECK;
void read_back_fini(struct read_back *back);

// The warnings, one a line.
const char *read_back_warning(const struct read_back *back, size_t index);

// Visits all records again and checks that they are the same ones at the same positions.
bool read_back_visits_the_same(struct read_back *back);

#endif
