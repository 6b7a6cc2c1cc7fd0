// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Address spaces through time: each owner (a process, a kernel) has one after the other.
//
// Changes come in the order of time, and questions may be asked between them. A mapping that
// overlaps nothing is added to the newest version of its space and is visible from its begin on;
// one that overlaps begins a new version, and the earlier stay as they were. A forked space begins
// with the tree that its parent has at that moment. While nothing changes, spaces_find() may be
// asked from many threads.
#ifndef TIMELINE_SPACES_H
#define TIMELINE_SPACES_H

#include "base/table.h"
#include "timeline/ranges.h"

// Whose addresses are meant. The kernel's own map and what was loaded into it are two, because the
// first may claim more than its own.
enum side {
	SIDE_USER,
	SIDE_KERNEL,
	SIDE_MODULES,
	SIDE_GUEST_USER,
	SIDE_GUEST_KERNEL,
	SIDE_GUEST_MODULES,
};

// From when on a state of a space's tree holds.
struct space_version {
	uint64_t from;
	uint32_t root;
};

struct space_history {
	size_t count, room;
	struct space_version versions[];
};

struct space {
	uint64_t from;
	// The last version is the newest; NULL while there is but one.
	struct space_history *history;
	uint32_t root;
	uint32_t frozen;
	uint32_t owner;
	// Of the same owner, or NO_SPACE.
	uint32_t previous;
};

// A process or a kernel.
struct owner {
	// When its first space began.
	uint64_t born;
	uint32_t pid;
	enum side side;
	// The newest space, or NO_SPACE.
	uint32_t space;
	// After spaces_order(): its spaces, as a run of `order`.
	uint32_t first, count;
	// Threads alive, as far as recorded.
	int32_t threads;
	bool is_forked, has_executed, has_exited;
};

enum { NO_SPACE = UINT32_MAX, NO_VALUE = UINT32_MAX };

// Zero-initialised is empty.
struct spaces {
	struct ranges ranges;
	ARRAY_OF(struct space) all;
	ARRAY_OF(struct owner) owners;
	struct table by_key;
	// When the mapping of each value began; its index is the value.
	ARRAY_OF(uint64_t) begins;
	uint32_t *order;
};

void spaces_fini(struct spaces *spaces);

// The number of the owner PID on SIDE, which is made at first sight.
struct imp_error *spaces_owner(struct spaces *spaces, enum side side, uint32_t pid,
			       uint32_t *ret) MUST_CHECK;

// The owner, or NULL.
const struct owner *spaces_find_owner(const struct spaces *spaces, enum side side, uint32_t pid);

// Begins a new, empty space of OWNER.
struct imp_error *spaces_begin(struct spaces *spaces, uint32_t owner, uint64_t time) MUST_CHECK;

// Begins a space of OWNER that has the mappings which PARENT has now.
struct imp_error *spaces_fork(struct spaces *spaces, uint32_t owner, uint32_t parent,
			      uint64_t time) MUST_CHECK;

// The same for a child whose own records came before that of the fork: what it has stays on top.
struct imp_error *spaces_fork_under(struct spaces *spaces, uint32_t owner, uint32_t parent,
				    uint64_t time) MUST_CHECK;

// Maps [start, end) in OWNER's newest space, which is begun when there is none. The mapping's value
// is the next index of `begins`, to which it is added.
struct imp_error *spaces_map(struct spaces *spaces, uint32_t owner, uint64_t time,
			     const struct range *range) MUST_CHECK;

struct imp_error *spaces_unmap(struct spaces *spaces, uint32_t owner, uint64_t time, uint64_t start,
			       uint64_t end) MUST_CHECK;

// Once nothing changes any more: makes owners with very many spaces quick to ask.
struct imp_error *spaces_order(struct spaces *spaces) MUST_CHECK;

// An answer, and for which addresses [start, end) and times [from, to) it holds.
struct space_stretch {
	uint64_t start, end;
	uint64_t from, to;
	uint32_t space;
	// NO_VALUE where nothing is mapped.
	uint32_t value;
	// Nothing at all is known to be mapped there.
	bool is_empty;
};

struct space_stretch spaces_find(const struct spaces *spaces, const struct owner *owner,
				 uint64_t time, uint64_t address);

#endif
