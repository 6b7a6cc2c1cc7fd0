// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where samples were seen: pages of processes, and between which times, small enough to be kept
// until it is known what was mapped there.
#include "analyze/sightings.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/glance.h"
#include "base/cleanup.h"

enum {
	// Windows of a chunk that are being collected; what does not find a place among them is put
	// out, and may come again.
	SLOT_BITS = 12,
	SLOTS = 1 << SLOT_BITS,
	OWNER_BITS = 9,
	OWNERS = 1 << OWNER_BITS,
	// Pages that were seen not long ago; they fit into a processor's first cache.
	RECENT_BITS = 11,
	RECENT = 1 << RECENT_BITS,
	// The number of a page, or of a window, and that of an epoch share a word.
	NUMBER_BITS = 52,
	MOST_EPOCHS = 1 << (64 - NUMBER_BITS),
	COARSE_SHIFT = SIGHTING_PAGE_SHIFT + 6,
	FINE_SHIFT = SIGHTING_FINE_SHIFT + 6,
};

#define NO_OWNER UINT64_MAX
// Windows of pages are numbered from 0, those of finer cells from here on.
#define FIRST_FINE (KERNEL_MODULES_AT >> COARSE_SHIFT)

// Part of an owner's life in a chunk, in which what it has mapped is not known to change.
struct epoch {
	uint64_t owner;
	uint64_t first, last;
};

// The newest epoch of an owner.
struct owner_slot {
	struct epoch epoch;
	uint64_t number;
};

// A window that an epoch was seen in.
struct window_slot {
	// The window's number, and above it that of the epoch.
	uint64_t key;
	uint64_t cells;
};

struct sighter {
	const struct survey *survey;
	struct glance_layout layout;
	struct owner_slot owners[OWNERS];
	// Each a page's number, and above it that of the epoch which was seen there.
	uint64_t recent[RECENT];
	struct window_slot slots[SLOTS];
	ARRAY_OF(struct epoch) epochs;
	ARRAY_OF(struct window_slot) done;
	struct sightings out;
	bool is_out_of_memory;
};

static void forget_owners(struct sighter *sighter)
{
	for (size_t i = 0; i < OWNERS; i++)
		sighter->owners[i].epoch.owner = NO_OWNER;
}

struct imp_error *sighter_new(const struct survey *survey, struct sighter **ret)
{
	struct sighter *sighter = calloc(1, sizeof *sighter);
	if (!sighter)
		return &imp_error_no_memory;
	sighter->survey = survey;
	sighter->layout = glance_layout_of(survey);
	forget_owners(sighter);
	*ret = sighter;
	return NULL;
}

void sighter_free(struct sighter *sighter)
{
	if (!sighter)
		return;
	array_fini(&sighter->epochs);
	array_fini(&sighter->done);
	array_fini(&sighter->out.all);
	free(sighter);
}

static struct owner_slot *slot_of_owner(struct sighter *sighter, uint64_t owner)
{
	return &sighter->owners[owner * UINT64_C(0x9e3779b97f4a7c15) >> (64 - OWNER_BITS)];
}

// Ends the epoch in SLOT, if there is one.
static void end_epoch(struct sighter *sighter, struct owner_slot *slot)
{
	if (slot->epoch.owner != NO_OWNER)
		sighter->epochs.items[slot->number] = slot->epoch;
	slot->epoch.owner = NO_OWNER;
}

static void put_out(struct sighter *sighter, const struct window_slot *slot)
{
	struct window_slot *done = array_add(&sighter->done);
	if (done)
		*done = *slot;
	else
		sighter->is_out_of_memory = true;
}

static uint64_t window_of(uint64_t number)
{
	return number < FIRST_FINE ? number << COARSE_SHIFT | SIGHTING_PAGE_SHIFT
				   : (KERNEL_MODULES_AT + ((number - FIRST_FINE) << FINE_SHIFT)) |
					     SIGHTING_FINE_SHIFT;
}

// Makes sightings of all that was collected, and begins anew.
static void flush(struct sighter *sighter)
{
	for (size_t i = 0; i < OWNERS; i++)
		end_epoch(sighter, &sighter->owners[i]);
	for (size_t i = 0; i < SLOTS; i++)
		if (sighter->slots[i].cells)
			put_out(sighter, &sighter->slots[i]);
	memset(sighter->slots, 0, sizeof sighter->slots);
	memset(sighter->recent, 0, sizeof sighter->recent);
	size_t count = sighter->is_out_of_memory ? 0 : sighter->done.count;
	if (!array_reserve(&sighter->out.all, count))
		sighter->is_out_of_memory = true;
	for (size_t i = 0; !sighter->is_out_of_memory && i < count; i++) {
		const struct window_slot *slot = &sighter->done.items[i];
		const struct epoch *epoch = &sighter->epochs.items[slot->key >> NUMBER_BITS];
		sighter->out.all.items[sighter->out.all.count++] = (struct sighting){
			epoch->owner, window_of(slot->key & ((UINT64_C(1) << NUMBER_BITS) - 1)),
			slot->cells, epoch->first, epoch->last
		};
	}
	sighter->done.count = 0;
	sighter->epochs.count = 0;
}

static void begin_epoch(struct sighter *sighter, struct owner_slot *slot, uint64_t owner,
			uint64_t time)
{
	end_epoch(sighter, slot);
	if (sighter->epochs.count == MOST_EPOCHS)
		flush(sighter);
	// The number 0 stands for none.
	if ((!sighter->epochs.count && !array_add(&sighter->epochs)) ||
	    !array_add(&sighter->epochs)) {
		sighter->is_out_of_memory = true;
		return;
	}
	*slot = (struct owner_slot){ { owner, time, time }, sighter->epochs.count - 1 };
}

// The number of OWNER's epoch, above where a page's stands. The epoch then reaches to TIME.
static inline uint64_t epoch_of(struct sighter *sighter, uint64_t owner, uint64_t time)
{
	struct owner_slot *slot = slot_of_owner(sighter, owner);
	if (__builtin_expect(slot->epoch.owner != owner, 0))
		begin_epoch(sighter, slot, owner, time);
	if (time < slot->epoch.first)
		slot->epoch.first = time;
	if (time > slot->epoch.last)
		slot->epoch.last = time;
	return slot->number << NUMBER_BITS;
}

// EPOCH is seen at ADDRESS.
static __attribute__((noinline)) void see(struct sighter *sighter, uint64_t epoch, uint64_t address)
{
	uint64_t number = address >> COARSE_SHIFT;
	uint64_t cell = address >> SIGHTING_PAGE_SHIFT;
	if (address >= KERNEL_MODULES_AT) {
		number = FIRST_FINE + ((address - KERNEL_MODULES_AT) >> FINE_SHIFT);
		cell = address >> SIGHTING_FINE_SHIFT;
	}
	uint64_t key = epoch | number;
	struct window_slot *slot =
		&sighter->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS)];
	if (slot->key != key) {
		if (slot->cells)
			put_out(sighter, slot);
		*slot = (struct window_slot){ .key = key };
	}
	slot->cells |= UINT64_C(1) << (cell & (SIGHTING_CELLS - 1));
}

// EPOCH is seen at ADDRESS, in a page that was not seen recently, or in a finer cell.
static __attribute__((noinline)) void see_new(struct sighter *sighter, uint64_t epoch,
					      uint64_t address)
{
	uint64_t page = address >> SIGHTING_PAGE_SHIFT;
	// Finer cells are not to be passed over for their page.
	if (address < KERNEL_MODULES_AT)
		sighter->recent[page & (RECENT - 1)] = epoch | page;
	see(sighter, epoch, address);
}

// The common case first: a page that was seen recently.
static inline void see_quickly(struct sighter *sighter, uint64_t epoch, uint64_t address)
{
	uint64_t page = address >> SIGHTING_PAGE_SHIFT;
	if (__builtin_expect(sighter->recent[page & (RECENT - 1)] != (epoch | page), 0))
		see_new(sighter, epoch, address);
}

static inline void see_chain(struct sighter *sighter, const struct glance *glance,
			     const struct words chain, uint64_t epoch)
{
	// A marker's first address is exact, the others are where calls return to.
	uint64_t back = 0;
	for (uint64_t i = 0; i < chain.count; i++) {
		uint64_t address = word_at(&chain, i);
		if (__builtin_expect(address < CHAIN_CONTEXT_MAX, 1)) {
			see_quickly(sighter, epoch, address - back);
			back = 1;
			continue;
		}
		// Behind this marker stands a number, not an address.
		if (address == CHAIN_CONTEXT_USER_DEFERRED)
			return;
		unsigned mode = glance_mode_of(address);
		epoch = epoch_of(sighter, sighting_owner(mode, glance->pid), glance->time);
		back = 0;
	}
}

void sighter_take(struct sighter *sighter, const struct record *record)
{
	struct glance glance;
	if (!glance_read(&sighter->layout, sighter->survey, record, &glance))
		return;
	uint64_t owner = sighting_owner(glance.cpumode, glance.pid);
	uint64_t epoch = epoch_of(sighter, owner, glance.time);
	if (glance.has_ip)
		see_quickly(sighter, epoch, glance.ip);
	struct words chain = { glance.chain.bytes, glance.chain.count, false };
	if (glance.chain.swap)
		see_chain(sighter, &glance, glance.chain, epoch);
	else
		see_chain(sighter, &glance, chain, epoch);
}

void sighter_note(struct sighter *sighter, const struct record *record)
{
	struct cursor body = record_body(record);
	uint32_t pid = cursor_u32(&body);
	// Samples of some recorders have no mode.
	static const unsigned modes[] = { 0, MISC_USER };
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		uint64_t owner = sighting_owner(modes[i], pid);
		struct owner_slot *slot = slot_of_owner(sighter, owner);
		if (slot->epoch.owner == owner)
			end_epoch(sighter, slot);
	}
}

struct imp_error *sighter_finish(struct sighter *sighter, struct sightings *ret)
{
	flush(sighter);
	if (sighter->is_out_of_memory)
		return &imp_error_no_memory;
	*ret = sighter->out;
	sighter->out = (struct sightings){ 0 };
	return NULL;
}
