// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sorting siblings by what they are called, then walking down.
#include "render/tree_order.h"

#include <stdlib.h>
#include <string.h>

#include "render/columns.h"

// A node and what it is sorted by.
struct placed {
	uint32_t parent, rank, node;
};

struct ordering {
	const struct call_tree *tree;
	// The place of each symbol, and of each root, among all.
	uint32_t *symbol_ranks, *root_ranks;
	// Sorted by parent, then rank; children of node I begin at first[I].
	struct placed *placed;
	uint32_t *first;
};

// For qsort(), whose comparison gets no argument of its own.
struct ranked_symbol {
	const struct call_tree *tree;
	uint32_t number;
};

static int symbol_order(const void *left, const void *right)
{
	const struct ranked_symbol *a = left, *b = right;
	const struct call_symbol *symbols = a->tree->symbols.items;
	return symbol_compare(a->tree, &symbols[a->number], &symbols[b->number]);
}

static int compare_texts(const struct call_tree *tree, uint32_t a, uint32_t b)
{
	const char *a_text = profile_string(tree->profile, a);
	const char *b_text = profile_string(tree->profile, b);
	return strcmp(a_text ? a_text : "", b_text ? b_text : "");
}

static int root_order(const void *left, const void *right)
{
	const struct ranked_symbol *a = left, *b = right;
	const struct call_root *x = &a->tree->roots.items[a->number];
	const struct call_root *y = &a->tree->roots.items[b->number];
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	int by_comm = compare_texts(a->tree, x->task.comm, y->task.comm);
	if (by_comm)
		return by_comm;
	if (x->task.pid != y->task.pid)
		return x->task.pid < y->task.pid ? -1 : 1;
	if (x->task.tid != y->task.tid)
		return x->task.tid < y->task.tid ? -1 : 1;
	if (x->task.cpu != y->task.cpu)
		return x->task.cpu < y->task.cpu ? -1 : 1;
	int by_cgroup = compare_texts(a->tree, x->task.cgroup, y->task.cgroup);
	return by_cgroup ? by_cgroup : compare_texts(a->tree, x->task.cgroup_id, y->task.cgroup_id);
}

static struct imp_error *rank(const struct call_tree *tree, size_t count,
			      int (*compare)(const void *, const void *), uint32_t **ret)
{
	_cleanup_free_ struct ranked_symbol *all = malloc(count * sizeof *all + 1);
	uint32_t *ranks = malloc(count * sizeof *ranks + 1);
	if (!all || !ranks) {
		free(ranks);
		return &imp_error_no_memory;
	}
	for (uint32_t i = 0; i < count; i++)
		all[i] = (struct ranked_symbol){ tree, i };
	if (count)
		qsort(all, count, sizeof *all, compare);
	for (uint32_t i = 0; i < count; i++)
		ranks[all[i].number] = i;
	*ret = ranks;
	return NULL;
}

static int placed_order(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

// Roots have the highest parent of all, and so stand last.
static struct imp_error *place_nodes(struct ordering *ordering)
{
	const struct call_tree *tree = ordering->tree;
	size_t count = tree->nodes.count;
	ordering->placed = malloc(count * sizeof *ordering->placed + 1);
	ordering->first = malloc((count + 1) * sizeof *ordering->first);
	if (!ordering->placed || !ordering->first)
		return &imp_error_no_memory;
	for (uint32_t i = 0; i < count; i++) {
		const struct call_node *node = &tree->nodes.items[i];
		const uint32_t *ranks = call_node_is_root(node) ? ordering->root_ranks
								: ordering->symbol_ranks;
		ordering->placed[i] = (struct placed){ node->parent, ranks[node->symbol], i };
	}
	if (count)
		qsort(ordering->placed, count, sizeof *ordering->placed, placed_order);
	uint32_t at = 0;
	for (uint32_t i = 0; i <= count; i++) {
		while (at < count && ordering->placed[at].parent < i)
			at++;
		ordering->first[i] = at;
	}
	return NULL;
}

// Writes the nodes down, the children of each right behind it. What is still to do stands on a
// stack as ranges of `placed`.
static struct imp_error *walk(const struct ordering *ordering, uint32_t *order)
{
	struct range_left {
		uint32_t at, end;
	};
	ARRAY_OF(struct range_left) stack = { 0 };
	size_t count = ordering->tree->nodes.count, written = 0;
	struct range_left *range = array_add(&stack);
	if (range)
		*range = (struct range_left){ ordering->first[count], (uint32_t)count };
	while (range && stack.count) {
		range = &stack.items[stack.count - 1];
		if (range->at == range->end) {
			stack.count--;
			continue;
		}
		uint32_t node = ordering->placed[range->at++].node;
		order[written++] = node;
		range = array_add(&stack);
		if (range)
			*range = (struct range_left){ ordering->first[node],
						      ordering->first[node + 1] };
	}
	array_fini(&stack);
	return range ? NULL : &imp_error_no_memory;
}

struct imp_error *tree_order(const struct call_tree *tree, uint32_t **ret)
{
	struct ordering ordering = { .tree = tree };
	uint32_t *order = malloc(tree->nodes.count * sizeof *order + 1);
	struct imp_error *err = order ? NULL : &imp_error_no_memory;
	if (!err)
		err = rank(tree, tree->symbols.count, symbol_order, &ordering.symbol_ranks);
	if (!err)
		err = rank(tree, tree->roots.count, root_order, &ordering.root_ranks);
	if (!err)
		err = place_nodes(&ordering);
	if (!err)
		err = walk(&ordering, order);
	free(ordering.symbol_ranks);
	free(ordering.root_ranks);
	free(ordering.placed);
	free(ordering.first);
	if (err) {
		free(order);
		return err;
	}
	*ret = order;
	return NULL;
}

struct imp_error *ordered_tree(const struct profile *profile,
			       const struct call_tree_options *options, struct call_tree **tree,
			       uint32_t **order)
{
	_cleanup_call_tree_ struct call_tree *fresh = NULL;
	struct imp_error *err = call_tree_new(profile, options, &fresh);
	if (!err)
		err = tree_order(fresh, order);
	if (!err)
		*tree = steal(fresh);
	return err;
}
