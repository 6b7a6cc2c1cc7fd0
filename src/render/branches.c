// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Merging call chains into trees.
#include "render/branches.h"

#include <stdlib.h>

#include "base/hash.h"

void branches_fini(struct branches *branches)
{
	array_fini(&branches->items);
	table_fini(&branches->table);
}

void row_nodes_fini(struct row_nodes *nodes)
{
	free(nodes->first);
	free(nodes->nodes);
	free(nodes->first_child);
	free(nodes->next_sibling);
}

// Whether NODE's chain belongs to its row's tree.
static bool is_of_row(const struct rows *rows, uint32_t node)
{
	return rows->has_totals ? rows->is_outermost[node] : rows->row_of_node[node] != NO_NUMBER;
}

static bool is_heavy(const struct rows *rows, const struct row *row, const uint64_t *least)
{
	uint64_t weight = rows->has_totals ? row->total.weight : row->self.weight;
	return weight && weight >= least[row->event];
}

// Fills `first` and `nodes` by counting, then placing.
static struct imp_error *bucket_nodes(struct row_nodes *nodes, const uint64_t *least)
{
	const struct rows *rows = nodes->rows;
	size_t node_count = rows->tree->nodes.count;
	uint32_t *first = calloc(rows->items.count + 2, sizeof *first);
	nodes->first = first;
	if (!first)
		return &imp_error_no_memory;
	// Counts stand two places on, ends one place on while placing.
	for (uint32_t i = 0; i < node_count; i++) {
		uint32_t row = rows->row_of_node[i];
		if (row != NO_NUMBER && is_of_row(rows, i) &&
		    is_heavy(rows, &rows->items.items[row], least))
			first[row + 2]++;
	}
	for (size_t row = 2; row < rows->items.count + 2; row++)
		first[row] += first[row - 1];
	nodes->nodes = malloc(first[rows->items.count + 1] * sizeof(uint32_t) + 1);
	if (!nodes->nodes)
		return &imp_error_no_memory;
	for (uint32_t i = 0; i < node_count; i++) {
		uint32_t row = rows->row_of_node[i];
		if (row != NO_NUMBER && is_of_row(rows, i) &&
		    is_heavy(rows, &rows->items.items[row], least))
			nodes->nodes[first[row + 1]++] = i;
	}
	return NULL;
}

static struct imp_error *link_children(struct row_nodes *nodes)
{
	const struct call_tree *tree = nodes->rows->tree;
	nodes->first_child = malloc(tree->nodes.count * sizeof(uint32_t) + 1);
	nodes->next_sibling = malloc(tree->nodes.count * sizeof(uint32_t) + 1);
	if (!nodes->first_child || !nodes->next_sibling)
		return &imp_error_no_memory;
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		uint32_t parent = tree->nodes.items[i].parent;
		nodes->first_child[i] = nodes->next_sibling[i] = NO_NUMBER;
		if (parent == NO_NUMBER)
			continue;
		nodes->next_sibling[i] = nodes->first_child[parent];
		nodes->first_child[parent] = i;
	}
	return NULL;
}

struct imp_error *row_nodes_make(const struct rows *rows, const uint64_t *least,
				 struct row_nodes *ret)
{
	struct row_nodes nodes = { .rows = rows };
	struct imp_error *err = bucket_nodes(&nodes, least);
	if (!err && rows->has_totals)
		err = link_children(&nodes);
	if (err) {
		row_nodes_fini(&nodes);
		return err;
	}
	*ret = nodes;
	return NULL;
}

// The branch of SYMBOL below PARENT, to which SUMS are added.
static struct imp_error *branch_add(struct branches *branches, uint32_t parent, uint32_t symbol,
				    const struct sums *sums, uint32_t *ret)
{
	uint64_t hash = hash_mix(0, (uint64_t)parent << 32 | symbol);
	struct table_probe probe = table_probe(&branches->table, hash);
	uint32_t number = NO_NUMBER;
	while (table_next(&branches->table, &probe, &number)) {
		if (branches->items.items[number].symbol == symbol &&
		    branches->items.items[number].parent == parent)
			break;
		number = NO_NUMBER;
	}
	if (number == NO_NUMBER) {
		struct branch *fresh = array_add(&branches->items);
		if (!fresh)
			return &imp_error_no_memory;
		number = (uint32_t)branches->items.count - 1;
		struct branch *above = &branches->items.items[parent];
		*fresh = (struct branch){ .symbol = symbol,
					  .parent = parent,
					  .first_child = NO_NUMBER,
					  .next_sibling = above->first_child };
		above->first_child = number;
		if (!table_insert(&branches->table, hash, number))
			return &imp_error_no_memory;
	}
	struct sums *total = &branches->items.items[number].total;
	total->samples += sums->samples;
	total->weight += sums->weight;
	*ret = number;
	return NULL;
}

// NODE's own chain, from itself upwards.
static struct imp_error *add_upwards(struct branches *branches, uint32_t node,
				     const struct sums *sums)
{
	const struct call_node *nodes = branches->tree->nodes.items;
	uint32_t branch = 0;
	for (uint32_t at = node; !call_node_is_root(&nodes[at]); at = nodes[at].parent) {
		struct imp_error *err =
			branch_add(branches, branch, nodes[at].symbol, sums, &branch);
		if (err)
			return err;
	}
	return NULL;
}

// NODE's own chain, from the outermost caller down to it.
static struct imp_error *add_downwards(struct branches *branches, uint32_t node,
				       const struct sums *sums)
{
	const struct call_node *nodes = branches->tree->nodes.items;
	ARRAY_OF(uint32_t) path = { 0 };
	struct imp_error *err = NULL;
	for (uint32_t at = node; !call_node_is_root(&nodes[at]) && !err; at = nodes[at].parent) {
		uint32_t *step = array_add(&path);
		if (step)
			*step = nodes[at].symbol;
		else
			err = &imp_error_no_memory;
	}
	uint32_t branch = 0;
	for (size_t i = path.count; i-- > 0 && !err;)
		err = branch_add(branches, branch, path.items[i], sums, &branch);
	array_fini(&path);
	return err;
}

struct step {
	uint32_t node, branch;
};

// All chains that go through NODE, from it down: the nodes below it in any order, each after its
// parent.
static struct imp_error *add_below(struct branches *branches, const struct row_nodes *nodes,
				   uint32_t top, const struct sums *totals)
{
	ARRAY_OF(struct step) todo = { 0 };
	struct step at = { top, 0 };
	struct imp_error *err = NULL;
	while (!err) {
		const struct call_node *node = &branches->tree->nodes.items[at.node];
		uint32_t branch;
		err = branch_add(branches, at.branch, node->symbol, &totals[at.node], &branch);
		uint32_t child = nodes->first_child[at.node];
		for (; child != NO_NUMBER && !err; child = nodes->next_sibling[child]) {
			struct step *step = array_add(&todo);
			if (step)
				*step = (struct step){ child, branch };
			else
				err = &imp_error_no_memory;
		}
		if (!todo.count)
			break;
		at = todo.items[--todo.count];
	}
	array_fini(&todo);
	return err;
}

static struct imp_error *add_node(struct branches *branches, const struct row_nodes *nodes,
				  uint32_t node, enum branch_order order)
{
	const struct rows *rows = nodes->rows;
	const struct call_node *call = &branches->tree->nodes.items[node];
	struct sums own = { call->samples, call->weight };
	const struct sums *sums = rows->has_totals ? &rows->node_totals[node] : &own;
	if (order == BRANCH_CALLEE)
		return add_upwards(branches, node, sums);
	if (rows->has_totals)
		return add_below(branches, nodes, node, rows->node_totals);
	return add_downwards(branches, node, sums);
}

struct imp_error *branches_make(const struct row_nodes *nodes, size_t row, enum branch_order order,
				struct branches *ret)
{
	struct branches branches = { .tree = nodes->rows->tree };
	struct branch *top = array_add(&branches.items);
	struct imp_error *err = top ? NULL : &imp_error_no_memory;
	if (top)
		*top = (struct branch){ .symbol = NO_NUMBER,
					.parent = NO_NUMBER,
					.first_child = NO_NUMBER,
					.next_sibling = NO_NUMBER };
	for (uint32_t i = nodes->first[row]; i < nodes->first[row + 1] && !err; i++)
		err = add_node(&branches, nodes, nodes->nodes[i], order);
	if (err) {
		branches_fini(&branches);
		return err;
	}
	const struct row *sums = &nodes->rows->items.items[row];
	branches.items.items[0].total = nodes->rows->has_totals ? sums->total : sums->self;
	*ret = branches;
	return NULL;
}

struct child_ref {
	const struct branches *branches;
	uint32_t number;
};

static int child_compare(const void *left, const void *right)
{
	const struct branches *branches = ((const struct child_ref *)left)->branches;
	const struct branch *a = &branches->items.items[((const struct child_ref *)left)->number];
	const struct branch *b = &branches->items.items[((const struct child_ref *)right)->number];
	if (a->total.weight != b->total.weight)
		return a->total.weight > b->total.weight ? -1 : 1;
	if (a->total.samples != b->total.samples)
		return a->total.samples > b->total.samples ? -1 : 1;
	const struct call_symbol *symbols = branches->tree->symbols.items;
	return symbol_compare(branches->tree, &symbols[a->symbol], &symbols[b->symbol]);
}

struct imp_error *branch_children(const struct branches *branches, uint32_t branch, uint64_t least,
				  uint32_t **ret, size_t *count)
{
	const struct branch *items = branches->items.items;
	size_t kept = 0;
	for (uint32_t i = items[branch].first_child; i != NO_NUMBER; i = items[i].next_sibling)
		kept += items[i].total.weight >= least;
	_cleanup_free_ struct child_ref *refs = malloc(kept * sizeof *refs + 1);
	uint32_t *children = malloc(kept * sizeof *children + 1);
	if (!refs || !children) {
		free(children);
		return &imp_error_no_memory;
	}
	size_t at = 0;
	for (uint32_t i = items[branch].first_child; i != NO_NUMBER; i = items[i].next_sibling)
		if (items[i].total.weight >= least)
			refs[at++] = (struct child_ref){ branches, i };
	if (kept)
		qsort(refs, kept, sizeof *refs, child_compare);
	for (at = 0; at < kept; at++)
		children[at] = refs[at].number;
	*ret = children;
	*count = kept;
	return NULL;
}
