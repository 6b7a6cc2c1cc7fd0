// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An event of a recording: its attr, its IDs, its name, and where the fixed fields of its samples
// stand.
#ifndef PERFDATA_EVENT_H
#define PERFDATA_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/attr.h"

// Bits of event_attr.sample_type.
enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_BRANCH_STACK = 1 << 11,
	SAMPLE_REGS_USER = 1 << 12,
	SAMPLE_STACK_USER = 1 << 13,
	SAMPLE_WEIGHT = 1 << 14,
	SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_TRANSACTION = 1 << 17,
	SAMPLE_REGS_INTR = 1 << 18,
	SAMPLE_PHYS_ADDR = 1 << 19,
	SAMPLE_AUX = 1 << 20,
	SAMPLE_CGROUP = 1 << 21,
	SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	SAMPLE_WEIGHT_STRUCT = 1 << 24,
	SAMPLE_KNOWN_BITS = (1 << 25) - 1,
	// One word each, at the same place in all samples of an event.
	SAMPLE_FIXED_BITS = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID |
			    SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_STREAM_ID | SAMPLE_IDENTIFIER,
};

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
	// Samples have no parts of variable layout but a call chain.
	bool is_plain;
};

// Fills EVENT's layout, is_opaque and is_plain from its attr.
void event_lay_out(struct event *event);

// A name for what ATTR counts ("cycles", "raw 0x1c2", "tracepoint 312"), owned by the caller; NULL
// when memory ran out.
char *event_name_of(const struct event_attr *attr);

// "IP", "CALLCHAIN", …: what bit number BIT of sample_type records; NULL for one this build does
// not know.
const char *sample_bit_name(unsigned bit);

struct id_slot {
	uint64_t id;
	// Index of the event + 1; 0 is a free slot.
	uint32_t event;
};

// All events of a recording.
struct events {
	struct event *items;
	size_t count;
	size_t room;
	// IDs to events; see events_index().
	struct id_slot *by_id;
	size_t id_slots;
	uint64_t id_seed;
	// Where all events have the ID that tells which of them a record belongs to: in samples
	// from the start, in trailers from the end; NO_FIELD when they do not agree.
	uint16_t sample_id_at, trailer_id_at;
	// All events have the fields to find an ID by at the same places.
	bool ids_are_readable;
	// All events lay out their samples alike, so that a sample of no known event can be read.
	bool are_alike;
};

void events_fini(struct events *events);

// A new zeroed last event, or NULL when memory ran out.
struct event *events_add(struct events *events);

// Lays out all events and builds the index from IDs to events; call again after adding.
struct imp_error *events_index(struct events *events) MUST_CHECK;

// The event of an ID, or NULL.
const struct event *events_by_id(const struct events *events, uint64_t id);

#endif
