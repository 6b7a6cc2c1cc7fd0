// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The events of a recording, open: their descriptors on every thread and CPU, and their rings.
//
// Samples and what tells of processes and mappings ("meta") travel in rings of their own: on each
// CPU the sampled events share one, and dummy events that carry mmap, comm, fork, exit and the like
// share another, so that a flood of samples costs no mapping.
#ifndef RECORD_EVENT_SET_H
#define RECORD_EVENT_SET_H

#include "base/array.h"
#include "live/event_name.h"
#include "live/perf_event.h"
#include "live/ring.h"
#include "perfdata/feature_encode.h"
#include "record/target.h"

struct event_plan {
	const struct target *target;
	const struct wanted_event *events;
	size_t count;
	size_t ring_bytes, meta_ring_bytes;
	// The sample rings are overwritten for ever (a flight recorder).
	bool is_backward;
	// Sampled events start when the (one) thread executes a program; otherwise with
	// event_set_enable().
	bool starts_on_exec;
	// New threads and child processes belong to the target.
	bool inherits;
	// Mappings that are not executable, context switches, cgroup names as well.
	bool with_data, with_switches, with_cgroups;
};

// One descriptor.
struct event_fd {
	int fd;
	int cpu;
	uint32_t thread;
};

struct opened_event {
	struct event_attr attr;
	char *name;
	bool is_meta;
	// The leader of its group: where that stands in the set, counted from 1; 0 is none.
	size_t leader;
	ARRAY_OF(struct event_fd) fds;
	// The IDs of the descriptors, in their order.
	ARRAY_OF(uint64_t) ids;
};

struct rings {
	struct ring *items;
	size_t count;
	size_t room;
};

struct event_set {
	ARRAY_OF(struct opened_event) events;
	struct rings samples, meta;
	struct perf_refusals refusals;
	// Every thread of the target had ended before its events were open.
	bool is_empty;
};

// Opens all of PLAN. Errors name the event and say what to change.
struct imp_error *event_set_open(const struct event_plan *plan, struct event_set *ret) MUST_CHECK;
void event_set_fini(struct event_set *set);

// Starts or stops the sampled events (meta events run from the beginning).
void event_set_enable(const struct event_set *set, bool is_enabled);

// The events as the writer takes them, lent by SET, appended to RET.
struct written_events {
	struct written_event *items;
	size_t count;
	size_t room;
};
struct imp_error *event_set_written(const struct event_set *set,
				    struct written_events *ret) MUST_CHECK;

// How many samples the kernel could not record, over all sampled events.
uint64_t event_set_lost(const struct event_set *set);

#endif
