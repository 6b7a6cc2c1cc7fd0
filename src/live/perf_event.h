// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening perf events on whatever kernel and with whatever permissions there are: an attribute that
// is refused is left out, and remembered as what the recording lacks.
//
// Source: perf_event_open(2), kernel/events/core.c of Linux 6.12.
#ifndef LIVE_PERF_EVENT_H
#define LIVE_PERF_EVENT_H

#include "perfdata/attr.h"

// What may be refused, in the order in which it is given up: what came to the kernel last first,
// then what needs permissions.
enum perf_refusal {
	REFUSED_BUILD_ID,
	REFUSED_FORMAT_LOST,
	REFUSED_TEXT_POKE,
	REFUSED_CGROUP,
	REFUSED_BPF,
	REFUSED_KSYMBOL,
	REFUSED_NAMESPACES,
	REFUSED_BRANCH_DETAILS,
	REFUSED_CLOCK,
	REFUSED_COMM_EXEC,
	// Not an attribute of ours but a permission: the kernel part of what runs.
	REFUSED_KERNEL,
	// And one that tells of the kernel's own code; set by who opens such events.
	REFUSED_KERNEL_EVENTS,
	PERF_REFUSALS
};

// What was refused so far, one bit each; zero-initialised is nothing. Kept between opens so that
// nothing is asked for twice.
struct perf_refusals {
	uint32_t bits;
};

static inline bool perf_was_refused(const struct perf_refusals *refusals, enum perf_refusal what)
{
	return refusals->bits >> what & 1;
}

// What a recording lacks then: "build IDs in mmap events (Linux 5.12 has them)".
const char *perf_refusal_text(enum perf_refusal what);

// What an event is opened on.
struct perf_place {
	// A thread, or with `is_cgroup` the descriptor of a cgroup directory; -1 is everything.
	int32_t pid;
	// -1 is any CPU.
	int32_t cpu;
	bool is_cgroup;
	// With `has_leader`: the descriptor of its group's leader there.
	bool has_leader;
	int32_t leader;
};

// Opens ATTR at PLACE, leaving out of it what REFUSALS holds and what the kernel refuses now. A
// negative errno value, or the descriptor.
int perf_event_open_best(struct event_attr *attr, const struct perf_place *place,
			 struct perf_refusals *refusals);

// The same without any concession.
int perf_event_open_exactly(const struct event_attr *attr, const struct perf_place *place);

// Each false (errno set) when the kernel refuses.
bool perf_event_enable(int fd);
bool perf_event_disable(int fd);
bool perf_event_id(int fd, uint64_t *ret);
// Sends FD's records to the ring of TARGET.
bool perf_event_redirect(int fd, int target);
bool perf_event_set_filter(int fd, const char *filter);
// Stops and restarts the writing of records into FD's ring.
bool perf_event_pause(int fd, bool is_paused);

// How many samples of FD were lost, when its read format has ID and LOST; 0 when that is unknown.
uint64_t perf_event_lost(int fd, const struct event_attr *attr);

#endif
