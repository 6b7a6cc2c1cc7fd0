// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where samples were seen: pages of processes, and between which times, small enough to be kept
// until it is known what was mapped there.
#include "analyze/sightings.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/glance.h"
#include "base/cleanup.h"

enum {
	// Sightings of a chunk that are being collected; what does not find a place among them is
	// put out, and may come again.
	SLOT_BITS = 11,
	SLOTS = 1 << SLOT_BITS,
};

struct sighter {
	const struct survey *survey;
	struct glance_layout layout;
	struct sighting *slots;
	struct sightings done;
	bool is_out_of_memory;
};

struct imp_error *sighter_new(const struct survey *survey, struct sighter **ret)
{
	struct sighter *sighter = calloc(1, sizeof *sighter);
	if (!sighter)
		return &imp_error_no_memory;
	sighter->survey = survey;
	sighter->layout = glance_layout_of(survey);
	sighter->slots = calloc(SLOTS, sizeof *sighter->slots);
	if (!sighter->slots) {
		free(sighter);
		return &imp_error_no_memory;
	}
	*ret = sighter;
	return NULL;
}

void sighter_free(struct sighter *sighter)
{
	if (!sighter)
		return;
	free(sighter->slots);
	array_fini(&sighter->done.all);
	free(sighter);
}

static void put_out(struct sighter *sighter, const struct sighting *sighting)
{
	struct sighting *done = array_add(&sighter->done.all);
	if (done)
		*done = *sighting;
	else
		sighter->is_out_of_memory = true;
}

// OWNER is seen at ADDRESS.
static inline void see(struct sighter *sighter, uint64_t owner, uint64_t time, uint64_t address)
{
	uint64_t window = sighting_window(address);
	uint64_t cell = UINT64_C(1)
			<< (address >> (window & (SIGHTING_CELLS - 1)) & (SIGHTING_CELLS - 1));
	struct sighting *slot = &sighter->slots[sighting_hash(owner, window) >> (64 - SLOT_BITS)];
	if (__builtin_expect(slot->window != window || slot->owner != owner, 0)) {
		if (slot->cells)
			put_out(sighter, slot);
		*slot = (struct sighting){ owner, window, cell, time, time };
		return;
	}
	slot->cells |= cell;
	slot->first = time < slot->first ? time : slot->first;
	slot->last = time > slot->last ? time : slot->last;
}

static inline void see_chain(struct sighter *sighter, const struct glance *glance, uint64_t owner)
{
	// A marker's first address is exact, the others are where calls return to.
	uint64_t back = 0;
	for (uint64_t i = 0; i < glance->chain.count; i++) {
		uint64_t address = word_at(&glance->chain, i);
		if (__builtin_expect(address >= CHAIN_CONTEXT_MAX, 0)) {
			// Behind this marker stands a number, not an address.
			if (address == CHAIN_CONTEXT_USER_DEFERRED)
				return;
			owner = sighting_owner(glance_mode_of(address), glance->pid);
			back = 0;
			continue;
		}
		see(sighter, owner, glance->time, address - back);
		back = 1;
	}
}

void sighter_take(struct sighter *sighter, const struct record *record)
{
	struct glance glance;
	if (!glance_read(&sighter->layout, sighter->survey, record, &glance))
		return;
	uint64_t owner = sighting_owner(glance.cpumode, glance.pid);
	if (glance.has_ip)
		see(sighter, owner, glance.time, glance.ip);
	see_chain(sighter, &glance, owner);
}

struct imp_error *sighter_finish(struct sighter *sighter, struct sightings *ret)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (sighter->slots[i].cells)
			put_out(sighter, &sighter->slots[i]);
	if (sighter->is_out_of_memory)
		return &imp_error_no_memory;
	*ret = sighter->done;
	sighter->done = (struct sightings){ 0 };
	return NULL;
}
