// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The meta records of a recording, kept small until all are there and can be put in order.
#ifndef TIMELINE_META_H
#define TIMELINE_META_H

#include "perfdata/record.h"
#include "timeline/identity.h"
#include "timeline/namespaces.h"
#include "timeline/spaces.h"
#include "timeline/timeline.h"

enum meta_kind {
	META_MAP,
	META_UNMAP,
	META_COMM,
	META_EXEC,
	META_FORK,
	META_EXIT,
	META_NAMESPACES,
	META_CGROUP
};

struct meta {
	// 0 when synthesized.
	uint64_t time;
	// Tells records of the same time apart.
	uint32_t order;
	uint32_t pid;
	uint32_t tid;
	// MAP, UNMAP: index of an extent; COMM, EXEC: number of a name; FORK: the parent thread;
	// NAMESPACES: number of a set; CGROUP: index of a cgroup_name.
	uint32_t value;
	uint32_t parent_pid;
	uint8_t kind;
	uint8_t side;
	// Synthesized, or of a recording without times: the order says nothing.
	bool is_unordered;
};

struct extent {
	uint64_t start, end;
	// An address less this is an offset in the image.
	uint64_t base;
	uint32_t image;
};

struct cgroup_name {
	uint64_t id;
	// The number of its path.
	uint32_t path;
};

struct metas {
	ARRAY_OF(struct meta) all;
	ARRAY_OF(struct extent) extents;
	struct images images;
	struct claims claims;
	struct namespace_sets namespaces;
	ARRAY_OF(struct cgroup_name) cgroups;
	// What COMM, EXEC and cgroups number.
	struct strings *names;
	// Positions are times.
	bool has_no_times;
	// All that were ever added.
	uint32_t added;
	// Replayed already: the first of all, up to a time. A record of that time that comes later
	// is too late.
	size_t replayed;
	uint64_t replayed_until;
	bool is_late;
};

// Frees what metas_sort() and replaying need, but for images, claims and namespaces.
void metas_drop_records(struct metas *metas);
void metas_fini(struct metas *metas);

struct imp_error *metas_add(struct metas *metas, const struct events *events,
			    const struct record *record) MUST_CHECK;

struct imp_error *metas_claim(struct metas *metas, const struct build_id_record *entry) MUST_CHECK;

// Puts those in order that are not replayed yet: by time, and where that is equal as they came.
void metas_sort(struct metas *metas);

// Drops those that are replayed already, for good.
void metas_forget(struct metas *metas);

// See timeline_add_code().
struct imp_error *metas_add_code(struct metas *metas, const struct generated_code *code) MUST_CHECK;

#endif
