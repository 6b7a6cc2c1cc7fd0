// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The builds of a snapshot by the path at which its processes see them.
#ifndef ENVIRONMENT_BUILDS_AT_H
#define ENVIRONMENT_BUILDS_AT_H

#include "base/table.h"
#include "environment/difference.h"

// One build at one path. Lent by the snapshot, but for `build`, which the pool has.
struct build_at {
	enum image_role role;
	const char *path;
	const char *soname;
	const char *version;
	// "" when not known.
	const char *build;
	uint64_t processes;
	// The process counted last: each counts once.
	uint32_t last_process;
};

// Sorted by role, path, build.
struct builds_at {
	struct build_at *items;
	size_t count;
	size_t room;
	struct table table;
};

void builds_at_fini(struct builds_at *builds);

// Collects those of SNAPSHOT; texts that are made go to POOL.
struct imp_error *builds_at_collect(const struct snapshot *snapshot, struct strings *pool,
				    struct builds_at *ret) MUST_CHECK;

#endif
