// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where samples were seen: pages of processes, and between which times, small enough to be kept
// until it is known what was mapped there.
//
// A sighting stands for all samples of a process in 64 neighbouring cells of addresses that came
// not too long after one another. Which of the cells were seen is known for certain, when each was
// is only known to lie between two times.
#ifndef ANALYZE_SIGHTINGS_H
#define ANALYZE_SIGHTINGS_H

#include "analyze/survey.h"
#include "base/array.h"

struct sighting {
	// cpumode << 32 | process; the kernel's are of process 0.
	uint64_t owner;
	// The first cell's address, with the cells' size (as a power of two) in its low bits.
	uint64_t window;
	uint64_t cells;
	uint64_t first, last;
};

struct sightings {
	ARRAY_OF(struct sighting) all;
};

// Collects the sightings of a chunk, on any thread.
struct sighter;

struct imp_error *sighter_new(const struct survey *survey, struct sighter **ret) MUST_CHECK;
void sighter_free(struct sighter *sighter);

// Takes the addresses of a SAMPLE or CALLCHAIN_DEFERRED record.
void sighter_take(struct sighter *sighter, const struct record *record);

// No more records: gives what was seen to RET, which the caller frees the items of. The same cells
// may be in several.
struct imp_error *sighter_finish(struct sighter *sighter, struct sightings *ret) MUST_CHECK;

#endif
