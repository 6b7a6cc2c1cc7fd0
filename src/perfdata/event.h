// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An event of a recording: its attr, its IDs, its name, and where the fixed fields of its samples
// stand.
#ifndef PERFDATA_EVENT_H
#define PERFDATA_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/attr.h"

enum { NO_FIELD = 0xffff };

// Byte positions of fixed fields: in a SAMPLE from the record's start, in other records' trailers
// from their end backwards. NO_FIELD where the field is not recorded.
struct sample_layout {
	uint16_t ip, tid, time, addr, id, stream_id, cpu, period;
	// Where the part of variable layout begins (read values, call chain, …).
	uint16_t variable;
	uint16_t trailer_tid, trailer_time, trailer_id, trailer_cpu;
	// Size of the whole trailer; 0 without sample_id_all.
	uint16_t trailer_size;
};

struct event {
	struct event_attr attr;
	uint64_t *ids;
	size_t id_count;
	// "cycles", "cpu-clock", "sched:sched_switch"; made from the attr when the recording has no
	// name. Owned.
	char *name;
	struct sample_layout layout;
	// sample_type has bits this build does not know: samples can be counted, not decoded.
	bool is_opaque;
};

// Fills EVENT's layout and is_opaque from its attr.
void event_lay_out(struct event *event);

// All events of a recording.
struct events {
	struct event *items;
	size_t count;
	// IDs to events; see events_index().
	struct id_slot *by_id;
	size_t id_slots;
	// All events have the fields to find an ID by at the same places.
	bool ids_are_readable;
};

void events_fini(struct events *events);

// Builds the index from IDs to events; call again after adding.
struct imp_error *events_index(struct events *events) MUST_CHECK;

// The event of an ID, or NULL.
const struct event *events_by_id(const struct events *events, uint64_t id);

#endif
