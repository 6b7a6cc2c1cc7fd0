// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The files of a snapshot out of the store again, as trees in which each path has the build that
// was mapped.
//
// Processes that saw one build at each path share a tree; where a path had two builds (two roots,
// or an upgrade while one ran) there are two trees.
#ifndef ENVIRONMENT_CHECKOUT_H
#define ENVIRONMENT_CHECKOUT_H

#include "environment/snapshot.h"
#include "store/store.h"

struct checkout_tree {
	// Below the directory; "" when it is the only one.
	char name[96];
	// Numbers of the snapshot's processes.
	ARRAY_OF(uint32_t) processes;
};

// An image that could not be had.
struct checkout_missing {
	uint32_t image;
	// A constant.
	const char *why;
};

struct checkout {
	ARRAY_OF(struct checkout_tree) trees;
	ARRAY_OF(struct checkout_missing) missing;
	uint64_t files, bytes;
};

void checkout_fini(struct checkout *checkout);
#define _cleanup_checkout_ __attribute__((cleanup(checkout_fini)))

// Rebuilds the files of SNAPSHOT (of process PID only, unless that is 0) in DIR, which is made, and
// must be empty. Each object's own build ID is read again before it is used. RET is zeroed.
struct imp_error *checkout_make(const struct snapshot *snapshot, uint32_t pid, struct store *store,
				const char *dir, struct checkout *ret) MUST_CHECK;

#endif
