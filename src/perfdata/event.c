// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where an event's samples have their fields, and which event an ID belongs to.
#include "perfdata/event.h"

#include <sys/random.h>

#include "base/array.h"
#include "base/hash.h"

enum { WORD = 8, HEADER_SIZE = 8 };

// Takes the next word of a layout when its bit is recorded.
static uint16_t take_word(uint64_t sample_type, uint64_t bit, uint16_t *at)
{
	if (!(sample_type & bit))
		return NO_FIELD;
	uint16_t position = *at;
	*at = (uint16_t)(*at + WORD);
	return position;
}

static void lay_out_sample(uint64_t type, struct sample_layout *layout)
{
	uint16_t at = HEADER_SIZE;
	uint16_t identifier = take_word(type, SAMPLE_IDENTIFIER, &at);
	layout->ip = take_word(type, SAMPLE_IP, &at);
	layout->tid = take_word(type, SAMPLE_TID, &at);
	layout->time = take_word(type, SAMPLE_TIME, &at);
	layout->addr = take_word(type, SAMPLE_ADDR, &at);
	uint16_t id = take_word(type, SAMPLE_ID, &at);
	layout->stream_id = take_word(type, SAMPLE_STREAM_ID, &at);
	layout->cpu = take_word(type, SAMPLE_CPU, &at);
	layout->period = take_word(type, SAMPLE_PERIOD, &at);
	layout->id = identifier != NO_FIELD ? identifier : id;
	layout->variable = at;
}

// From the end backwards: the position of a word is its distance from the end to its beginning.
static uint16_t take_last_word(uint64_t sample_type, uint64_t bit, uint16_t *size)
{
	if (!(sample_type & bit))
		return NO_FIELD;
	*size = (uint16_t)(*size + WORD);
	return *size;
}

static void lay_out_trailer(uint64_t type, struct sample_layout *layout)
{
	uint16_t size = 0;
	uint16_t identifier = take_last_word(type, SAMPLE_IDENTIFIER, &size);
	layout->trailer_cpu = take_last_word(type, SAMPLE_CPU, &size);
	take_last_word(type, SAMPLE_STREAM_ID, &size);
	uint16_t id = take_last_word(type, SAMPLE_ID, &size);
	layout->trailer_time = take_last_word(type, SAMPLE_TIME, &size);
	layout->trailer_tid = take_last_word(type, SAMPLE_TID, &size);
	layout->trailer_id = identifier != NO_FIELD ? identifier : id;
	layout->trailer_size = size;
}

void event_lay_out(struct event *event)
{
	uint64_t type = event->attr.sample_type;
	struct sample_layout *layout = &event->layout;
	event->is_opaque = type & ~(uint64_t)SAMPLE_KNOWN_BITS;
	event->is_plain = !(type & ~(uint64_t)(SAMPLE_FIXED_BITS | SAMPLE_CALLCHAIN));
	lay_out_sample(type, layout);
	lay_out_trailer(attr_has(&event->attr, ATTR_SAMPLE_ID_ALL) ? type : 0, layout);
}

void events_fini(struct events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->items[i].ids);
		free(events->items[i].name);
	}
	free(events->items);
	free(events->by_id);
	*events = (struct events){ 0 };
}

struct event *events_add(struct events *events)
{
	return array_add(events);
}

static void find_common_fields(struct events *events)
{
	const struct event *first = events->items;
	events->sample_id_at = events->count ? first->layout.id : NO_FIELD;
	events->trailer_id_at = events->count ? first->layout.trailer_id : NO_FIELD;
	events->are_alike = true;
	for (size_t i = 1; i < events->count; i++) {
		const struct event *event = &events->items[i];
		if (event->layout.id != events->sample_id_at)
			events->sample_id_at = NO_FIELD;
		if (event->layout.trailer_id != events->trailer_id_at)
			events->trailer_id_at = NO_FIELD;
		if (event->attr.sample_type != first->attr.sample_type ||
		    event->attr.read_format != first->attr.read_format ||
		    event->attr.branch_sample_type != first->attr.branch_sample_type ||
		    event->attr.sample_regs_user != first->attr.sample_regs_user ||
		    event->attr.sample_regs_intr != first->attr.sample_regs_intr)
			events->are_alike = false;
	}
	events->ids_are_readable = events->count <= 1 || events->sample_id_at != NO_FIELD;
}

// The slot of ID, or the free slot where it would be.
static struct id_slot *find_slot(const struct events *events, uint64_t id)
{
	size_t mask = events->id_slots - 1;
	size_t at = (size_t)hash_mix(events->id_seed, id) & mask;
	while (events->by_id[at].event && events->by_id[at].id != id)
		at = (at + 1) & mask;
	return &events->by_id[at];
}

struct imp_error *events_index(struct events *events)
{
	size_t ids = 0;
	for (size_t i = 0; i < events->count; i++) {
		event_lay_out(&events->items[i]);
		ids += events->items[i].id_count;
	}
	find_common_fields(events);
	size_t slots = 16;
	while (slots < 2 * ids)
		slots *= 2;
	struct id_slot *by_id = calloc(slots, sizeof *by_id);
	if (!by_id)
		return &imp_error_no_memory;
	free(events->by_id);
	events->by_id = by_id;
	events->id_slots = slots;
	// A seed nobody can know beforehand: no recording can be made whose IDs all collide.
	if (getrandom(&events->id_seed, sizeof events->id_seed, GRND_NONBLOCK) < 0)
		events->id_seed = (uintptr_t)by_id;
	for (size_t i = 0; i < events->count; i++)
		for (size_t k = 0; k < events->items[i].id_count; k++) {
			struct id_slot *slot = find_slot(events, events->items[i].ids[k]);
			if (!slot->event)
				*slot = (struct id_slot){ events->items[i].ids[k],
							  (uint32_t)i + 1 };
		}
	return NULL;
}

const struct event *events_by_id(const struct events *events, uint64_t id)
{
	if (!events->id_slots)
		return NULL;
	const struct id_slot *slot = find_slot(events, id);
	return slot->event ? &events->items[slot->event - 1] : NULL;
}
