// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a recording holds, counted: records by type, losses, the span of time.
#ifndef PERFDATA_CONTENTS_H
#define PERFDATA_CONTENTS_H

#include "perfdata/recording.h"

enum { CONTENTS_KNOWN_TYPES = 128, CONTENTS_OTHER_TYPES = 32 };

struct contents_row {
	uint32_t type;
	uint64_t records, bytes;
};

struct contents {
	// By type below CONTENTS_KNOWN_TYPES.
	struct contents_row known[CONTENTS_KNOWN_TYPES];
	// Other types in the order of first sight; those that found no room are summed up.
	struct contents_row other[CONTENTS_OTHER_TYPES];
	size_t other_count;
	struct contents_row rest;
	// What LOST says of records, and LOST_SAMPLES of samples.
	uint64_t lost_records, lost_samples;
	uint64_t unreadable_samples;
	// Bytes of AUX traces, outside of records.
	uint64_t trace_bytes;
	// Of samples with a time; first is above last when there is none.
	uint64_t first_ns, last_ns;
	// Of each event, in their order.
	uint64_t *samples;
};

// Scans RECORDING.
struct imp_error *contents_count(struct recording *recording, struct contents *ret) MUST_CHECK;
void contents_fini(struct contents *contents);

#endif
