// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A recording written anew: as a file, inflated, with build IDs in its mmap events where they can
// be known; everything else byte for byte.
#ifndef RECORD_INJECT_H
#define RECORD_INJECT_H

#include "base/log.h"
#include "perfdata/recording.h"

struct inject_options {
	// Lent; NULL for silence.
	const struct log *log;
	// "-" is standard output.
	const char *output;
	// Only converted: no ID is added.
	bool without_ids;
};

struct inject_counts {
	uint64_t records;
	// Mappings of files: with an ID already; given one; left without.
	uint64_t had_id, given, left;
};

// Copies RECORDING. An mmap event gets the ID of the file at its path only when that file is the
// recorded inode, on the recorded host, and was last changed before the recording began.
// IMP_ERR_UNSUPPORTED for recordings of the other byte order and with AUX traces.
struct imp_error *inject(struct recording *recording, const struct inject_options *options,
			 struct inject_counts *ret) MUST_CHECK;

#endif
