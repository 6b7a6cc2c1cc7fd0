// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The command names of threads through time.
#ifndef TIMELINE_COMMS_H
#define TIMELINE_COMMS_H

#include "base/strings.h"

struct comm_change {
	uint64_t time;
	uint32_t tid;
	// A number in `names`.
	uint32_t name;
};

struct comm_thread {
	uint32_t tid;
	// The last name.
	uint32_t name;
	// After comms_finish(): its changes end before this index, and begin where those of the
	// thread before end.
	size_t end;
};

// Zero-initialised is empty.
struct comms {
	struct strings names;
	ARRAY_OF(struct comm_change) changes;
	ARRAY_OF(struct comm_thread) threads;
	struct table by_tid;
};

void comms_fini(struct comms *comms);

// From TIME on thread TID has the name of number NAME. Changes come in the order of time.
struct imp_error *comms_set(struct comms *comms, uint32_t tid, uint64_t time,
			    uint32_t name) MUST_CHECK;

// From TIME on CHILD is named as PARENT is now, when that is known.
struct imp_error *comms_inherit(struct comms *comms, uint32_t child, uint32_t parent,
				uint64_t time) MUST_CHECK;

// Orders the changes for comms_find().
struct imp_error *comms_finish(struct comms *comms) MUST_CHECK;

// TID's name at TIME, or NULL.
const char *comms_find(const struct comms *comms, uint32_t tid, uint64_t time);

#endif
