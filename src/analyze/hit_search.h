// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finds the images that sightings fell into, while the recording is still being read where it says
// that nothing older will come, and with a second look at few chunks where a sighting leaves open
// what it was.
#ifndef ANALYZE_HIT_SEARCH_H
#define ANALYZE_HIT_SEARCH_H

#include "analyze/sightings.h"
#include "base/table.h"

// A chunk of records, for a second look.
struct sighted_chunk {
	// Of its first record.
	uint64_t position;
	// Its sightings lie between these; first > last when there are none.
	uint64_t first, last;
	bool is_wanted, was_looked_at;
};

// A sighting of which some cells may have been one image or another, or none.
struct doubt {
	struct sighting sighting;
	// Chunks before this one were looked at for it.
	size_t next_chunk;
};

// Zero-initialise but for the first two.
struct hit_search {
	struct timeline *timeline;
	// Times are positions, and a long silence says nothing.
	bool has_no_times;
	ARRAY_OF(struct sighting) pending;
	struct table by_window;
	ARRAY_OF(struct doubt) doubts;
	ARRAY_OF(struct sighted_chunk) chunks;
	// By image, of early numbers until hit_search_finish().
	ARRAY_OF(bool) is_hit;
	// The newest time so far; what it was before the chunk that last ended a round; and what is
	// therefore older than all that will come.
	uint64_t newest, newest_at_round, safe;
	// Sightings, and meta records of the timeline, that the last settling left.
	size_t left, waiting;
	// What was older was settled.
	uint64_t settled;
	// All must be looked at again: there was too much to keep, or a record came too late.
	bool is_lost;
	// Chunks come out of compressed records and can only be looked at all together.
	bool has_inflated;
	bool has_looked;
};

void hit_search_fini(struct hit_search *search);

// A chunk, in the order of the file: what was seen in it, and whether it ends a round (see
// FINISHED_ROUND). Its meta records are the timeline's already.
struct chunk_sightings {
	const struct sightings *sightings;
	uint64_t position;
	bool ends_round;
	bool is_inflated;
};
struct imp_error *hit_search_add(struct hit_search *search,
				 const struct chunk_sightings *chunk) MUST_CHECK;

// The timeline is finished. Afterwards is_hit has a place for each of its images.
struct imp_error *hit_search_finish(struct hit_search *search) MUST_CHECK;

// Chooses chunks to look at; false when nothing is left open. What the samples in those chunks hit
// is then to be set in is_hit, and this asked again.
bool hit_search_next(struct hit_search *search);

// Whether the chunk that begins at POSITION was chosen.
bool hit_search_wants(const struct hit_search *search, uint64_t position);

#endif
