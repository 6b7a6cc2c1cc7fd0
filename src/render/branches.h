// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The call chains of one row, merged into a tree: from the row's function towards its callers, or
// from the outermost caller down.
#ifndef RENDER_BRANCHES_H
#define RENDER_BRANCHES_H

#include "render/rows.h"

enum branch_order {
	// The sampled function first, then who called it.
	BRANCH_CALLEE,
	// The outermost caller first (of a row with totals: the row's function first, then what it
	// calls).
	BRANCH_CALLER
};

struct branch {
	uint32_t symbol, parent;
	uint32_t first_child, next_sibling;
	struct sums total;
};

// Item 0 stands above all others and has no symbol.
struct branches {
	const struct call_tree *tree;
	ARRAY_OF(struct branch) items;
	struct table table;
};

void branches_fini(struct branches *branches);

// The nodes of each row that is heavy enough to have its chains shown, and each node's children.
struct row_nodes {
	const struct rows *rows;
	// Nodes of row R: nodes[first[R]] to nodes[first[R + 1] - 1].
	uint32_t *first, *nodes;
	// With totals: of each node, NO_NUMBER where there is none.
	uint32_t *first_child, *next_sibling;
};

// Rows whose weight (total, where there are totals) is below LEAST[event] get no nodes. ROWS is
// lent until row_nodes_fini().
struct imp_error *row_nodes_make(const struct rows *rows, const uint64_t *least,
				 struct row_nodes *ret) MUST_CHECK;
void row_nodes_fini(struct row_nodes *nodes);

// The tree of row ROW. Give it to branches_fini().
struct imp_error *branches_make(const struct row_nodes *nodes, size_t row, enum branch_order order,
				struct branches *ret) MUST_CHECK;

// The children of BRANCH that weigh at least LEAST, the heaviest first; *count of them, the
// caller's to free.
struct imp_error *branch_children(const struct branches *branches, uint32_t branch, uint64_t least,
				  uint32_t **ret, size_t *count) MUST_CHECK;

#endif
