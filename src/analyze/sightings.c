// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where samples were seen: pages of processes, and between which times, small enough to be kept
// until it is known what was mapped there.
#include "analyze/sightings.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "perfdata/sample.h"

enum {
	// Sightings of a chunk that are being collected; what does not find a place among them is
	// put out, and may come again.
	SLOT_BITS = 11,
	SLOTS = 1 << SLOT_BITS,
	CELLS = 64,
	// Cells are pages, but where the kernel puts modules and BPF programs, several to a page,
	// they are what its allocator of such programs counts in.
	PAGE_SHIFT = 12,
	FINE_SHIFT = 6,
};

#define KERNEL_MODULES_AT UINT64_C(0xffffffffa0000000)

// Where the fields stand that all samples have at the same place.
struct quick_layout {
	size_t ip, tid, time, chain;
	// Bytes that a sample must have at least.
	size_t least;
	bool has_chain;
	bool is_valid;
};

struct sighter {
	const struct survey *survey;
	struct quick_layout layout;
	struct sighting *slots;
	struct sightings done;
	bool is_out_of_memory;
};

// The layout of samples when it is the same for all events and without parts of unknown length
// before the call chain.
static struct quick_layout quick_layout_of(const struct survey *survey)
{
	struct quick_layout quick = { 0 };
	const struct events *events = survey->events;
	if (!events->count || (events->count > 1 && !events->are_alike))
		return quick;
	const struct event *event = &events->items[0];
	const struct sample_layout *layout = &event->layout;
	bool has_time = layout->time != NO_FIELD;
	if (event->is_opaque || layout->ip == NO_FIELD || layout->tid == NO_FIELD ||
	    event->attr.sample_type & SAMPLE_READ || (!has_time && !survey->uses_positions))
		return quick;
	quick = (struct quick_layout){ .ip = layout->ip,
				       .tid = layout->tid,
				       .time = has_time ? layout->time : 0u,
				       .chain = layout->variable,
				       .least = layout->variable,
				       .is_valid = true };
	quick.has_chain = event->attr.sample_type & SAMPLE_CALLCHAIN;
	if (quick.has_chain)
		quick.least += sizeof(uint64_t);
	return quick;
}

struct imp_error *sighter_new(const struct survey *survey, struct sighter **ret)
{
	struct sighter *sighter = calloc(1, sizeof *sighter);
	if (!sighter)
		return &imp_error_no_memory;
	sighter->survey = survey;
	sighter->layout = quick_layout_of(survey);
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

// Who is seen, and when.
struct seen {
	// By cpumode; see struct sighting.
	uint64_t owner;
	uint64_t time;
	uint32_t pid;
};

static uint64_t owner_of(unsigned cpumode, uint32_t pid)
{
	bool is_kernel = cpumode == MISC_KERNEL || cpumode == MISC_HYPERVISOR;
	return (uint64_t)cpumode << 32 | (is_kernel ? 0 : pid);
}

static inline void see(struct sighter *sighter, const struct seen *seen, uint64_t address)
{
	unsigned shift = address >= KERNEL_MODULES_AT ? FINE_SHIFT : PAGE_SHIFT;
	uint64_t window = (address >> shift & ~(uint64_t)(CELLS - 1)) << shift | shift;
	uint64_t cell = UINT64_C(1) << (address >> shift & (CELLS - 1));
	uint64_t hash = (window ^ seen->owner << 20) * UINT64_C(0x9e3779b97f4a7c15);
	struct sighting *slot = &sighter->slots[hash >> (64 - SLOT_BITS)];
	if (__builtin_expect(slot->window != window || slot->owner != seen->owner, 0)) {
		if (slot->cells)
			put_out(sighter, slot);
		*slot = (struct sighting){ seen->owner, window, cell, seen->time, seen->time };
		return;
	}
	slot->cells |= cell;
	slot->first = seen->time < slot->first ? seen->time : slot->first;
	slot->last = seen->time > slot->last ? seen->time : slot->last;
}

static unsigned mode_of_context(uint64_t context)
{
	switch (context) {
	case CHAIN_CONTEXT_HV:
		return MISC_HYPERVISOR;
	case CHAIN_CONTEXT_KERNEL:
		return MISC_KERNEL;
	case CHAIN_CONTEXT_GUEST:
	case CHAIN_CONTEXT_GUEST_KERNEL:
		return MISC_GUEST_KERNEL;
	case CHAIN_CONTEXT_GUEST_USER:
		return MISC_GUEST_USER;
	case CHAIN_CONTEXT_USER:
	default:
		return MISC_USER;
	}
}

static void see_chain(struct sighter *sighter, struct seen seen, const struct words *chain)
{
	// A marker's first address is exact, the others are where calls return to.
	uint64_t back = 0;
	for (uint64_t i = 0; i < chain->count; i++) {
		uint64_t address = word_at(chain, i);
		if (__builtin_expect(address >= CHAIN_CONTEXT_MAX, 0)) {
			// Behind this marker stands a number, not an address.
			if (address == CHAIN_CONTEXT_USER_DEFERRED)
				return;
			seen.owner = owner_of(mode_of_context(address), seen.pid);
			back = 0;
			continue;
		}
		see(sighter, &seen, address - back);
		back = 1;
	}
}

static void take_slowly(struct sighter *sighter, const struct record *record)
{
	struct sample sample;
	struct imp_error *err = sample_read(sighter->survey->events, record, &sample);
	if (err) {
		imp_error_free(err);
		return;
	}
	struct seen seen = { .pid = sample.has_tid ? sample.pid : UINT32_MAX,
			     .time = survey_time(sighter->survey, record, sample.time) };
	seen.owner = owner_of(sample.cpumode, seen.pid);
	if (sample.has_ip)
		see(sighter, &seen, sample.ip);
	see_chain(sighter, seen, &sample.chain);
}

// A sample whose fields stand where QUICK says, in this machine's byte order. False when there is
// something wrong with it.
static inline bool take_quickly(struct sighter *sighter, const struct record *record)
{
	const struct quick_layout *quick = &sighter->layout;
	if (record->size < quick->least)
		return false;
	uint64_t ip;
	struct seen seen;
	memcpy(&ip, record->bytes + quick->ip, sizeof ip);
	memcpy(&seen.pid, record->bytes + quick->tid, sizeof seen.pid);
	seen.time = record->position;
	if (!sighter->survey->uses_positions)
		memcpy(&seen.time, record->bytes + quick->time, sizeof seen.time);
	seen.owner = owner_of(record->misc & MISC_CPUMODE_MASK, seen.pid);
	struct words chain = { 0 };
	if (quick->has_chain) {
		memcpy(&chain.count, record->bytes + quick->chain, sizeof chain.count);
		chain.bytes = record->bytes + quick->least;
		if (chain.count > (record->size - quick->least) / sizeof(uint64_t))
			return false;
	}
	see(sighter, &seen, ip);
	see_chain(sighter, seen, &chain);
	return true;
}

static void take_deferred(struct sighter *sighter, const struct record *record)
{
	struct deferred_chain deferred;
	struct imp_error *err = deferred_chain_read(record, &deferred);
	if (err) {
		imp_error_free(err);
		return;
	}
	struct sample_id id;
	sample_id_read(sighter->survey->events, record, &id);
	struct seen seen = { .pid = id.has_tid ? id.pid : UINT32_MAX,
			     .time = survey_time(sighter->survey, record, id.time) };
	seen.owner = owner_of(MISC_USER, seen.pid);
	see_chain(sighter, seen, &deferred.chain);
}

void sighter_take(struct sighter *sighter, const struct record *record)
{
	if (record->type == RECORD_CALLCHAIN_DEFERRED)
		take_deferred(sighter, record);
	else if (!sighter->layout.is_valid || record->swap || !take_quickly(sighter, record))
		take_slowly(sighter, record);
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
