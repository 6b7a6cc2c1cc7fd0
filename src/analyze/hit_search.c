// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finds the images that sightings fell into.
#include "analyze/hit_search.h"

#include <stdlib.h>

#include "base/hash.h"

enum {
	CELLS = 64,
	// Sightings, or meta records, kept before those are settled that can be.
	SETTLED_AT_ONCE = 32768,
	MOST_PENDING = 400000,
	MOST_DOUBTS = 20000,
	// A process number that was silent so long may be another process's.
	SILENCE_NS = 1000000000,
	// Changes of what was mapped that are gone through for one cell.
	MOST_CHANGES = 64,
};

void hit_search_fini(struct hit_search *search)
{
	array_fini(&search->pending);
	table_fini(&search->by_window);
	array_fini(&search->doubts);
	array_fini(&search->chunks);
	array_fini(&search->is_hit);
}

// From now on nothing is known but that all must be looked at.
static void lose(struct hit_search *search)
{
	search->is_lost = true;
	array_fini(&search->pending);
	table_fini(&search->by_window);
	array_fini(&search->doubts);
	search->by_window = (struct table){ 0 };
}

static uint64_t window_hash(const struct sighting *sighting)
{
	return hash_mix(sighting->owner, sighting->window);
}

static bool belong_together(const struct hit_search *search, const struct sighting *a,
			    const struct sighting *b)
{
	if (a->window != b->window || a->owner != b->owner)
		return false;
	if (search->has_no_times)
		return true;
	uint64_t between = 0;
	if (a->first > b->last)
		between = a->first - b->last;
	else if (b->first > a->last)
		between = b->first - a->last;
	return between < SILENCE_NS;
}

static void join(struct sighting *sighting, const struct sighting *more)
{
	sighting->cells |= more->cells;
	if (more->first < sighting->first)
		sighting->first = more->first;
	if (more->last > sighting->last)
		sighting->last = more->last;
}

static struct imp_error *add_pending(struct hit_search *search, const struct sighting *sighting)
{
	struct table_probe probe = table_probe(&search->by_window, window_hash(sighting));
	uint32_t index;
	while (table_next(&search->by_window, &probe, &index)) {
		struct sighting *known = &search->pending.items[index];
		if (belong_together(search, known, sighting)) {
			join(known, sighting);
			return NULL;
		}
	}
	struct sighting *slot = array_add(&search->pending);
	if (!slot || !table_insert(&search->by_window, window_hash(sighting),
				   (uint32_t)search->pending.count - 1))
		return &imp_error_no_memory;
	*slot = *sighting;
	return NULL;
}

static struct stretch stretch_at(const struct hit_search *search, const struct sighting *sighting,
				 uint64_t time, uint64_t address)
{
	return timeline_stretch(search->timeline, (uint32_t)sighting->owner, time,
				(unsigned)(sighting->owner >> 32), abs_addr_of(address));
}

static unsigned shift_of(const struct sighting *sighting)
{
	return (unsigned)(sighting->window & (CELLS - 1));
}

static uint64_t cell_start(const struct sighting *sighting, unsigned cell)
{
	return (sighting->window & ~(uint64_t)(CELLS - 1)) + ((uint64_t)cell << shift_of(sighting));
}

static uint64_t cell_end(const struct sighting *sighting, unsigned cell)
{
	uint64_t end = cell_start(sighting, cell) + (UINT64_C(1) << shift_of(sighting));
	return end ? end : UINT64_MAX;
}

// How many cells from CELL on lie wholly before END.
static unsigned cells_before(const struct sighting *sighting, unsigned cell, uint64_t end)
{
	unsigned count = 0;
	while (cell + count < CELLS && cell_end(sighting, cell + count) <= end)
		count++;
	return count;
}

// Sets is_hit for the cells of SIGHTING that were in one image for all of its time, and leaves the
// others.
static uint64_t settle_cells(struct hit_search *search, const struct sighting *sighting)
{
	uint64_t open = 0;
	for (uint64_t left = sighting->cells; left;) {
		unsigned cell = (unsigned)__builtin_ctzll(left);
		uint64_t start = cell_start(sighting, cell);
		struct stretch stretch = stretch_at(search, sighting, sighting->first, start);
		uint64_t end = stretch.end;
		bool is_same = sighting->last < stretch.to;
		if (!is_same && stretch.mapping != NO_MAPPING) {
			struct stretch later = stretch_at(search, sighting, sighting->last, start);
			is_same = later.mapping == stretch.mapping;
			end = later.end < end ? later.end : end;
		}
		unsigned whole = is_same ? cells_before(sighting, cell, end) : 0;
		if (!whole) {
			open |= left & -left;
			left &= left - 1;
			continue;
		}
		if (stretch.image != NO_IMAGE)
			search->is_hit.items[stretch.image] = true;
		left = cell + whole >= CELLS ? 0 : left & ~UINT64_C(0) << (cell + whole);
	}
	return open;
}

// All that was mapped in CELL between the times of SIGHTING is known to be hit anyway.
static bool is_cell_known(const struct hit_search *search, const struct sighting *sighting,
			  unsigned cell)
{
	uint64_t end = cell_end(sighting, cell);
	uint64_t time = sighting->first;
	for (unsigned i = 0; i < MOST_CHANGES; i++) {
		uint64_t to = UINT64_MAX;
		for (uint64_t at = cell_start(sighting, cell); at < end;) {
			struct stretch stretch = stretch_at(search, sighting, time, at);
			if (stretch.image != NO_IMAGE && !search->is_hit.items[stretch.image])
				return false;
			if (stretch.to < to)
				to = stretch.to;
			at = stretch.end;
		}
		if (sighting->last < to)
			return true;
		time = to;
	}
	return false;
}

static uint64_t unknown_cells(const struct hit_search *search, const struct sighting *sighting)
{
	uint64_t unknown = 0;
	for (uint64_t left = sighting->cells; left; left &= left - 1)
		if (!is_cell_known(search, sighting, (unsigned)__builtin_ctzll(left)))
			unknown |= left & -left;
	return unknown;
}

static struct imp_error *settle(struct hit_search *search, const struct sighting *sighting)
{
	struct sighting open = *sighting;
	open.cells = settle_cells(search, sighting);
	if (open.cells)
		open.cells = unknown_cells(search, &open);
	if (!open.cells)
		return NULL;
	struct doubt *doubt = array_add(&search->doubts);
	if (!doubt)
		return &imp_error_no_memory;
	doubt->sighting = open;
	return NULL;
}

// Drops doubts about what was found since.
static void drop_doubts(struct hit_search *search)
{
	size_t kept = 0;
	for (size_t i = 0; i < search->doubts.count; i++) {
		struct doubt doubt = search->doubts.items[i];
		doubt.sighting.cells = unknown_cells(search, &doubt.sighting);
		if (doubt.sighting.cells)
			search->doubts.items[kept++] = doubt;
	}
	search->doubts.count = kept;
}

static struct imp_error *make_hits(struct hit_search *search, size_t count)
{
	while (search->is_hit.count < count)
		if (!array_add(&search->is_hit))
			return &imp_error_no_memory;
	return NULL;
}

// Settles the sightings that are older than UNTIL, and keeps the others.
static struct imp_error *settle_until(struct hit_search *search, uint64_t until)
{
	size_t count = search->pending.count;
	size_t kept = 0;
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < count; i++) {
		const struct sighting *sighting = &search->pending.items[i];
		if (sighting->last < until)
			err = settle(search, sighting);
		else
			search->pending.items[kept++] = *sighting;
	}
	search->pending.count = kept;
	table_fini(&search->by_window);
	search->by_window = (struct table){ 0 };
	for (size_t i = 0; !err && i < kept; i++)
		if (!table_insert(&search->by_window, window_hash(&search->pending.items[i]),
				  (uint32_t)i))
			err = &imp_error_no_memory;
	search->left = kept;
	drop_doubts(search);
	return err;
}

static bool is_due(const struct hit_search *search)
{
	return search->safe > search->settled &&
	       (search->pending.count >= 2 * search->left + SETTLED_AT_ONCE ||
		timeline_waiting(search->timeline) >= 2 * search->waiting + SETTLED_AT_ONCE);
}

static struct imp_error *settle_some(struct hit_search *search)
{
	struct imp_error *err = NULL;
	if (is_due(search)) {
		err = timeline_advance(search->timeline, search->safe);
		if (!err)
			err = make_hits(search, timeline_early_count(search->timeline));
		if (!err && !timeline_was_late(search->timeline))
			err = settle_until(search, search->safe);
		search->settled = search->safe;
		search->waiting = timeline_waiting(search->timeline);
	}
	if (timeline_was_late(search->timeline) || search->pending.count > MOST_PENDING ||
	    search->doubts.count > MOST_DOUBTS)
		lose(search);
	return err;
}

// What was written before the round before this one is older than all that will come.
static void end_round(struct hit_search *search)
{
	search->safe = search->newest_at_round;
	search->newest_at_round = search->newest;
}

struct imp_error *hit_search_add(struct hit_search *search, const struct chunk_sightings *chunk)
{
	search->has_inflated = search->has_inflated || chunk->is_inflated;
	if (search->is_lost)
		return NULL;
	struct sighted_chunk *sighted = array_add(&search->chunks);
	if (!sighted)
		return &imp_error_no_memory;
	sighted->position = chunk->position;
	sighted->first = UINT64_MAX;
	if (chunk->ends_round && !search->has_no_times)
		end_round(search);
	for (size_t i = 0; i < chunk->sightings->all.count; i++) {
		const struct sighting *sighting = &chunk->sightings->all.items[i];
		struct imp_error *err = add_pending(search, sighting);
		if (err)
			return err;
		if (sighting->first < sighted->first)
			sighted->first = sighting->first;
		if (sighting->last > sighted->last)
			sighted->last = sighting->last;
	}
	// A time of all ones is none.
	if (sighted->last > search->newest && sighted->last != UINT64_MAX)
		search->newest = sighted->last;
	return settle_some(search);
}

// Gives the hits the numbers that images have in the end.
static struct imp_error *renumber(struct hit_search *search)
{
	size_t early_count = search->is_hit.count;
	bool *early = search->is_hit.items;
	search->is_hit.items = NULL;
	search->is_hit.count = search->is_hit.room = 0;
	struct imp_error *err = make_hits(search, timeline_image_count(search->timeline));
	for (size_t i = 0; !err && !search->is_lost && i < early_count; i++)
		if (early[i])
			search->is_hit.items[timeline_final_number(search->timeline, (uint32_t)i)] =
				true;
	free(early);
	return err;
}

struct imp_error *hit_search_finish(struct hit_search *search)
{
	if (timeline_was_late(search->timeline))
		lose(search);
	struct imp_error *err = renumber(search);
	return err || search->is_lost ? err : settle_until(search, UINT64_MAX);
}

// Chooses the next chunks for DOUBT, at most MOST. False when it has none left.
static bool choose_for(struct hit_search *search, struct doubt *doubt, size_t most)
{
	bool has_any = false;
	for (; doubt->next_chunk < search->chunks.count && most; doubt->next_chunk++) {
		struct sighted_chunk *chunk = &search->chunks.items[doubt->next_chunk];
		if (chunk->was_looked_at || chunk->first > doubt->sighting.last ||
		    chunk->last < doubt->sighting.first)
			continue;
		chunk->is_wanted = true;
		has_any = true;
		most--;
	}
	return has_any;
}

bool hit_search_next(struct hit_search *search)
{
	bool sees_all = search->is_lost || search->has_inflated;
	if (search->has_looked && sees_all)
		return false;
	for (size_t i = 0; i < search->chunks.count; i++) {
		struct sighted_chunk *chunk = &search->chunks.items[i];
		chunk->was_looked_at = chunk->was_looked_at || chunk->is_wanted;
		chunk->is_wanted = false;
	}
	// What was looked at first showed most of it; the rest is likely not to have been hit.
	size_t most = search->has_looked ? SIZE_MAX : 2;
	search->has_looked = true;
	if (search->is_lost)
		return true;
	drop_doubts(search);
	bool has_any = false;
	for (size_t i = 0; i < search->doubts.count; i++)
		has_any = choose_for(search, &search->doubts.items[i], most) || has_any;
	return has_any;
}

bool hit_search_wants(const struct hit_search *search, uint64_t position)
{
	size_t low = 0;
	size_t high = search->chunks.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (search->chunks.items[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	// Of an unknown chunk nothing is known.
	return search->is_lost || low == search->chunks.count ||
	       search->chunks.items[low].position != position ||
	       search->chunks.items[low].is_wanted;
}
