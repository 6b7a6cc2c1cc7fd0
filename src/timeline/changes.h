// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What numbers stood for through time: the names of threads, the paths of cgroups.
#ifndef TIMELINE_CHANGES_H
#define TIMELINE_CHANGES_H

#include "base/array.h"
#include "base/error.h"
#include "base/table.h"

struct change {
	uint64_t time;
	// Index of what it is of.
	uint32_t subject;
	uint32_t value;
};

struct change_subject {
	uint64_t key;
	// The last value.
	uint32_t value;
	// After changes_finish(): its changes end before this index, and begin where those of the
	// subject before end.
	size_t end;
};

// Zero-initialised is empty.
struct changes {
	ARRAY_OF(struct change) all;
	ARRAY_OF(struct change_subject) subjects;
	struct table by_key;
};

enum { NOT_SET = UINT32_MAX };

void changes_fini(struct changes *changes);

// From TIME on KEY stands for VALUE. Changes come in the order of time.
struct imp_error *changes_set(struct changes *changes, uint64_t key, uint64_t time,
			      uint32_t value) MUST_CHECK;

// From TIME on CHILD stands for what PARENT does now, when that is known.
struct imp_error *changes_inherit(struct changes *changes, uint64_t child, uint64_t parent,
				  uint64_t time) MUST_CHECK;

// Orders the changes for changes_find().
struct imp_error *changes_finish(struct changes *changes) MUST_CHECK;

// What KEY stood for at TIME, or NOT_SET.
uint32_t changes_find(const struct changes *changes, uint64_t key, uint64_t time);

#endif
