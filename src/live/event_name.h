// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Event names as perf users write them, made into attrs.
//
// Known are software and generic hardware events, cache events (L1-dcache-load-misses), rNNN,
// PMU/TERMS/ by sysfs, tracepoints (sched:sched_switch), and names of libpfm4 where that is built
// in; each with modifiers (:u :k :h :p :P :D), several separated by commas. Tracepoints may be
// patterns ("sched:sched_*"), and "{cycles,instructions}:u" is a group: on the processor together
// or not at all.
#ifndef LIVE_EVENT_NAME_H
#define LIVE_EVENT_NAME_H

#include "perfdata/attr.h"

struct wanted_event {
	// type, config… and the modifiers' flags; the period only for what names one itself.
	struct event_attr attr;
	// As written. Owned.
	char *name;
	// For tracepoints; NULL is everything. Owned.
	char *filter;
	// Its group's leader: where that stands in the list, counted from 1; 0 is none.
	size_t leader;
	// Every occurrence is a sample of its own unless the user says otherwise.
	bool is_tracepoint;
};

struct wanted_events {
	struct wanted_event *items;
	size_t count;
	size_t room;
};

void wanted_events_fini(struct wanted_events *events);
#define _cleanup_wanted_events_ __attribute__((cleanup(wanted_events_fini)))

// Appends the events named by TEXT. IMP_ERR_USAGE when one is not known, with what it may have
// meant.
struct imp_error *event_names_parse(const char *text, struct wanted_events *ret) MUST_CHECK;

// Appends cycles, or cpu-clock where this machine does not count cycles (*fell_back is then true).
struct imp_error *event_default(struct wanted_events *ret, bool *fell_back) MUST_CHECK;

#endif
