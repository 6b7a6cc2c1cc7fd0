// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The rows of a report: samples summed up by columns, with what was called from there when that is
// asked for.
#ifndef RENDER_ROWS_H
#define RENDER_ROWS_H

#include "render/columns.h"

struct sums {
	uint64_t samples, weight;
};

struct row {
	uint32_t event;
	// A task and a symbol that stand for all that the row sums up.
	const struct task *task;
	const struct call_symbol *symbol;
	// Samples taken there, and also those of what is called from there (each stack counted
	// once).
	struct sums self, total;
};

struct rows {
	const struct call_tree *tree;
	struct column_list columns;
	bool has_totals;
	ARRAY_OF(struct row) items;
	// Rows of event I end before ends[I].
	size_t *ends;
	// For each node of the tree: its row (by place in `items`), and whether no node above it
	// is of the same row. NO_NUMBER for roots, and without totals for nodes without samples.
	uint32_t *row_of_node;
	bool *is_outermost;
	// With totals: what was sampled in each node and below it.
	struct sums *node_totals;
};

// Rows come event by event; in each, the heaviest first (by total when WITH_TOTALS), then in the
// order of their columns. TREE is lent until rows_fini().
struct imp_error *rows_make(const struct call_tree *tree, const struct column_list *columns,
			    bool with_totals, struct rows *ret) MUST_CHECK;
void rows_fini(struct rows *rows);

static inline struct subject row_subject(const struct rows *rows, const struct row *row)
{
	return (struct subject){ rows->tree, row->task, row->symbol };
}

// The first row of EVENT.
static inline size_t rows_begin(const struct rows *rows, uint32_t event)
{
	return event ? rows->ends[event - 1] : 0;
}

#endif
