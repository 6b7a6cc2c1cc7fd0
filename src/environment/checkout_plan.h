// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which image stands at which path of which tree.
#ifndef ENVIRONMENT_CHECKOUT_PLAN_H
#define ENVIRONMENT_CHECKOUT_PLAN_H

#include "base/table.h"
#include "environment/checkout.h"

struct checkout_file {
	uint32_t tree;
	uint32_t image;
	// Inside the tree, without the slash in front; lent by the snapshot.
	const char *path;
};

struct checkout_plan {
	const struct snapshot *snapshot;
	ARRAY_OF(struct checkout_file) files;
	struct table by_path;
	// Of each tree: the mount namespace and root of its processes.
	ARRAY_OF(uint64_t) namespaces;
	ARRAY_OF(const char *) roots;
};

void checkout_plan_fini(struct checkout_plan *plan);

// Shares the processes among trees, which go to RET's trees.
struct imp_error *checkout_plan_make(struct checkout_plan *plan, uint32_t pid,
				     struct checkout *ret) MUST_CHECK;

// Notes that IMAGE cannot be had, once. WHY is a constant.
struct imp_error *checkout_note_missing(struct checkout *ret, uint32_t image,
					const char *why) MUST_CHECK;

#endif
