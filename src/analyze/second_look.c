// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looks at single samples where sightings left in doubt what was hit.
#include "analyze/second_look.h"

#include <stdlib.h>

#include "analyze/glance.h"
#include "base/cleanup.h"

// Doubtful windows by their hash; others may share a bit with one, which costs time only.
enum { DOUBT_BITS = 16, DOUBT_WORDS = (1 << DOUBT_BITS) / 64 };

// One for each worker.
struct looker {
	struct timeline_cache cache;
	bool *is_hit;
};

struct look {
	const struct survey *survey;
	struct glance_layout layout;
	uint64_t doubtful[DOUBT_WORDS];
	struct looker *lookers;
};

static void make_doubtful(struct look *look, const struct sighting *sighting)
{
	uint64_t bit = sighting_hash(sighting->owner, sighting->window) >> (64 - DOUBT_BITS);
	look->doubtful[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void look_at(const struct look *look, struct looker *looker, uint64_t owner, uint64_t time,
		    uint64_t address)
{
	uint64_t bit = sighting_hash(owner, sighting_window(address)) >> (64 - DOUBT_BITS);
	if (__builtin_expect(!(look->doubtful[bit / 64] >> bit % 64 & 1), 1))
		return;
	struct place place = timeline_locate(look->survey->timeline, (uint32_t)owner, time,
					     (unsigned)(owner >> 32), abs_addr_of(address),
					     &looker->cache);
	if (place.image != NO_IMAGE)
		looker->is_hit[place.image] = true;
}

static void look_at_sample(const struct look *look, struct looker *looker,
			   const struct record *record)
{
	struct glance glance;
	if (!glance_read(&look->layout, look->survey, record, &glance))
		return;
	uint64_t owner = sighting_owner(glance.cpumode, glance.pid);
	if (glance.has_ip)
		look_at(look, looker, owner, glance.time, glance.ip);
	uint64_t back = 0;
	for (uint64_t i = 0; i < glance.chain.count; i++) {
		uint64_t address = word_at(&glance.chain, i);
		if (address == CHAIN_CONTEXT_USER_DEFERRED)
			return;
		if (address >= CHAIN_CONTEXT_MAX) {
			owner = sighting_owner(glance_mode_of(address), glance.pid);
			back = 0;
			continue;
		}
		look_at(look, looker, owner, glance.time, address - back);
		back = 1;
	}
}

static struct imp_error *look_at_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	const struct look *look = arg;
	struct record record;
	while (chunk_next(chunk, &record))
		if (record.type == RECORD_SAMPLE || record.type == RECORD_CALLCHAIN_DEFERRED)
			look_at_sample(look, &look->lookers[worker], &record);
	return NULL;
}

static bool wants_chunk(const void *arg, uint64_t position)
{
	return hit_search_wants(arg, position);
}

static void lookers_free(struct looker *lookers, unsigned count)
{
	for (unsigned i = 0; lookers && i < count; i++)
		free(lookers[i].is_hit);
	free(lookers);
}

static struct imp_error *lookers_new(unsigned count, size_t images, struct looker **ret)
{
	struct looker *lookers = calloc(count, sizeof *lookers);
	bool is_complete = lookers;
	for (unsigned i = 0; is_complete && i < count; i++) {
		lookers[i].is_hit = calloc(images + 1, sizeof *lookers[i].is_hit);
		is_complete = lookers[i].is_hit;
	}
	if (!is_complete) {
		lookers_free(lookers, count);
		return &imp_error_no_memory;
	}
	*ret = lookers;
	return NULL;
}

struct imp_error *second_look(struct recording *recording, const struct survey *survey,
			      struct hit_search *search)
{
	unsigned workers = recording_workers(recording);
	size_t images = timeline_image_count(survey->timeline);
	struct visit_filter filter = { wants_chunk, search };
	_cleanup_free_ struct look *look = calloc(1, sizeof *look);
	if (!look)
		return &imp_error_no_memory;
	struct imp_error *err = lookers_new(workers, images, &look->lookers);
	if (err)
		return err;
	look->survey = survey;
	look->layout = glance_layout_of(survey);
	// Without a list of what is doubtful, all is.
	if (search->is_lost)
		memset(look->doubtful, 0xff, sizeof look->doubtful);
	for (size_t i = 0; i < search->doubts.count; i++)
		make_doubtful(look, &search->doubts.items[i].sighting);
	err = recording_visit_some(recording, &filter, look_at_chunk, look);
	for (unsigned worker = 0; !err && worker < workers; worker++)
		for (size_t i = 0; i < images; i++)
			if (look->lookers[worker].is_hit[i])
				search->is_hit.items[i] = true;
	lookers_free(look->lookers, workers);
	return err;
}
