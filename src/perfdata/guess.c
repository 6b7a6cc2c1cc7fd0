// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Guesses record boundaries by what follows them.
#include "perfdata/guess.h"

enum { CHAIN_LENGTH = 16 };

// Types that occur in numbers; a guess may miss rare ones, and then is only a later one.
static bool is_plausible(const struct record *record)
{
	if (record->type == 0 || record->size % 8)
		return false;
	return record->type <= RECORD_CALLCHAIN_DEFERRED || record->type == RECORD_FINISHED_ROUND;
}

static bool begins_chain(const struct chunk *chunk, size_t at)
{
	struct chunk walk = *chunk;
	struct record record;
	walk.at = at;
	for (unsigned i = 0; i < CHAIN_LENGTH; i++) {
		if (!chunk_next(&walk, &record))
			return walk.stop == CHUNK_END && i > 0;
		if (!is_plausible(&record))
			return false;
	}
	return true;
}

size_t guess_first_record(const struct chunk *chunk, uint8_t alignment)
{
	size_t at = (size_t)((alignment - chunk->offset) & 7);
	for (; at + RECORD_HEADER_SIZE <= chunk->limit; at += 8)
		if (begins_chain(chunk, at))
			return at;
	return SIZE_MAX;
}
