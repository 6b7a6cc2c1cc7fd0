// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Disjoint address ranges in a balanced tree whose earlier states stay readable.
//
// A state of a tree is its root. Nodes made before `frozen` are never written: a change copies the
// path to what it changes, so a root that was kept goes on showing what it showed, and two trees
// may share most of their nodes. Nodes from `frozen` on belong to the newest state alone and are
// changed in place. Every change costs O(log n) time and at most as many new nodes.
#ifndef TIMELINE_RANGES_H
#define TIMELINE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

// The root of an empty tree.
enum { NO_RANGE = 0 };

struct range {
	uint64_t start;
	// The first address behind it.
	uint64_t end;
	// What the caller keeps about it.
	uint32_t value;
	uint32_t left, right;
	uint32_t height;
};

// The nodes of all trees. Zero-initialised is empty.
struct ranges {
	ARRAY_OF(struct range) nodes;
};

void ranges_fini(struct ranges *ranges);

// The number that nodes made from now on have at least: as `frozen` it makes all that is there
// unchangeable.
uint32_t ranges_mark(const struct ranges *ranges);

// Puts [START, END) with VALUE into the tree at *ROOT; what it overlaps is cut, split or dropped.
struct imp_error *ranges_insert(struct ranges *ranges, uint32_t frozen, uint32_t *root,
				const struct range *added) MUST_CHECK;

// Takes [START, END) out of the tree at *ROOT.
struct imp_error *ranges_remove(struct ranges *ranges, uint32_t frozen, uint32_t *root,
				uint64_t start, uint64_t end) MUST_CHECK;

// The range that holds ADDRESS, or else the one behind it; NULL when there is neither. Lent until
// the next change.
const struct range *ranges_at_or_after(const struct ranges *ranges, uint32_t root,
				       uint64_t address);

// The range that holds ADDRESS, or NULL.
static inline const struct range *ranges_find(const struct ranges *ranges, uint32_t root,
					      uint64_t address)
{
	while (root != NO_RANGE) {
		const struct range *node = &ranges->nodes.items[root];
		if (address < node->start)
			root = node->left;
		else if (address >= node->end)
			root = node->right;
		else
			return node;
	}
	return NULL;
}

#endif
