// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Summing a call tree up into rows.
#include "render/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

// Keys of the columns of one side, zero beyond.
struct group {
	uint64_t keys[MOST_COLUMNS];
};

struct groups {
	ARRAY_OF(struct group) items;
	struct table table;
};

// What makes a row: an event, a group of tasks, a group of symbols.
struct row_groups {
	uint32_t event, task, code;
};

struct summing {
	struct rows *rows;
	struct groups task_groups, code_groups;
	// The group of each root and of each symbol.
	uint32_t *of_root, *of_symbol;
	struct table row_table;
	ARRAY_OF(struct row_groups) row_groups;
	// Of each node, the root above it.
	uint32_t *root_of_node;
};

static void summing_fini(struct summing *summing)
{
	array_fini(&summing->task_groups.items);
	array_fini(&summing->code_groups.items);
	table_fini(&summing->task_groups.table);
	table_fini(&summing->code_groups.table);
	table_fini(&summing->row_table);
	array_fini(&summing->row_groups);
	free(summing->of_root);
	free(summing->of_symbol);
	free(summing->root_of_node);
}

// Of GROUP's keys, COUNT may be other than zero.
static struct imp_error *group_intern(struct groups *groups, const struct group *group,
				      size_t count, uint32_t *ret)
{
	uint64_t hash = hash_bytes(0, group->keys, count * sizeof *group->keys);
	struct table_probe probe = table_probe(&groups->table, hash);
	while (table_next(&groups->table, &probe, ret))
		if (!memcmp(&groups->items.items[*ret], group, sizeof *group))
			return NULL;
	struct group *fresh = array_add(&groups->items);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *group;
	*ret = (uint32_t)groups->items.count - 1;
	return table_insert(&groups->table, hash, *ret) ? NULL : &imp_error_no_memory;
}

static struct group group_of(const struct rows *rows, const struct subject *subject, bool of_task)
{
	struct group group = { { 0 } };
	for (size_t i = 0; i < rows->columns.count; i++)
		if (rows->columns.items[i]->is_of_task == of_task)
			group.keys[i] = rows->columns.items[i]->key(subject);
	return group;
}

static struct imp_error *group_all(struct summing *summing)
{
	const struct call_tree *tree = summing->rows->tree;
	size_t count = summing->rows->columns.count;
	struct imp_error *err = NULL;
	for (size_t i = 0; i < tree->roots.count && !err; i++) {
		struct subject subject = { .tree = tree, .task = &tree->roots.items[i].task };
		struct group group = group_of(summing->rows, &subject, true);
		err = group_intern(&summing->task_groups, &group, count, &summing->of_root[i]);
	}
	for (size_t i = 0; i < tree->symbols.count && !err; i++) {
		struct subject subject = { .tree = tree, .symbol = &tree->symbols.items[i] };
		struct group group = group_of(summing->rows, &subject, false);
		err = group_intern(&summing->code_groups, &group, count, &summing->of_symbol[i]);
	}
	return err;
}

// The row of NODE, which is made at first sight.
static struct imp_error *row_intern(struct summing *summing, uint32_t node, uint32_t *ret)
{
	struct rows *rows = summing->rows;
	const struct call_tree *tree = rows->tree;
	const struct call_root *root = &tree->roots.items[summing->root_of_node[node]];
	uint32_t symbol = tree->nodes.items[node].symbol;
	struct row_groups key = { root->event, summing->of_root[summing->root_of_node[node]],
				  summing->of_symbol[symbol] };
	uint64_t hash = hash_mix(hash_mix(0, (uint64_t)key.task << 32 | key.code), key.event);
	struct table_probe probe = table_probe(&summing->row_table, hash);
	while (table_next(&summing->row_table, &probe, ret)) {
		const struct row_groups *other = &summing->row_groups.items[*ret];
		if (other->event == key.event && other->task == key.task && other->code == key.code)
			return NULL;
	}
	struct row *row = array_add(&rows->items);
	struct row_groups *groups = row ? array_add(&summing->row_groups) : NULL;
	if (!groups)
		return &imp_error_no_memory;
	*groups = key;
	*row = (struct row){ .event = root->event,
			     .task = &root->task,
			     .symbol = &tree->symbols.items[symbol] };
	*ret = (uint32_t)rows->items.count - 1;
	return table_insert(&summing->row_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

// What was inlined belongs, of itself, to the function that it stands in.
static uint32_t self_node(const struct call_tree *tree, uint32_t node)
{
	const struct call_node *nodes = tree->nodes.items;
	uint32_t at = node;
	while (!call_node_is_root(&nodes[at]) && tree->symbols.items[nodes[at].symbol].is_inlined)
		at = nodes[at].parent;
	return call_node_is_root(&nodes[at]) ? node : at;
}

// No node above NODE is of the same row.
static bool is_outermost(const struct rows *rows, uint32_t node)
{
	const struct call_node *nodes = rows->tree->nodes.items;
	uint32_t row = rows->row_of_node[node];
	for (uint32_t at = nodes[node].parent; !call_node_is_root(&nodes[at]);
	     at = nodes[at].parent)
		if (rows->row_of_node[at] == row)
			return false;
	return true;
}

static struct imp_error *sum_selves(struct summing *summing)
{
	struct rows *rows = summing->rows;
	const struct call_tree *tree = rows->tree;
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[i];
		bool is_root = call_node_is_root(node);
		summing->root_of_node[i] = is_root ? node->symbol
						   : summing->root_of_node[node->parent];
		rows->row_of_node[i] = NO_NUMBER;
		bool is_counted = node->samples || node->weight;
		if (is_root || !(is_counted || rows->has_totals))
			continue;
		uint32_t self = NO_NUMBER;
		struct imp_error *err = NULL;
		if (is_counted)
			err = row_intern(summing, self_node(tree, i), &self);
		rows->row_of_node[i] = self;
		if (!err && rows->has_totals)
			err = row_intern(summing, i, &rows->row_of_node[i]);
		if (err)
			return err;
		if (!is_counted)
			continue;
		rows->items.items[self].self.samples += node->samples;
		rows->items.items[self].self.weight += node->weight;
	}
	return NULL;
}

static void sum_totals(struct summing *summing)
{
	struct rows *rows = summing->rows;
	const struct call_tree *tree = rows->tree;
	struct sums *totals = rows->node_totals;
	for (uint32_t i = (uint32_t)tree->nodes.count; i-- > 0;) {
		const struct call_node *node = &tree->nodes.items[i];
		totals[i].samples += node->samples;
		totals[i].weight += node->weight;
		if (call_node_is_root(node))
			continue;
		totals[node->parent].samples += totals[i].samples;
		totals[node->parent].weight += totals[i].weight;
		rows->is_outermost[i] = is_outermost(rows, i);
		if (!rows->is_outermost[i])
			continue;
		struct row *row = &rows->items.items[rows->row_of_node[i]];
		row->total.samples += totals[i].samples;
		row->total.weight += totals[i].weight;
	}
}

static int compare_sums(const struct sums *a, const struct sums *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

// Places in the array before sorting, to carry row_of_node along.
struct ranked {
	const struct rows *rows;
	uint32_t row;
};

static int ranked_compare(const void *left, const void *right)
{
	const struct rows *rows = ((const struct ranked *)left)->rows;
	const struct row *a = &rows->items.items[((const struct ranked *)left)->row];
	const struct row *b = &rows->items.items[((const struct ranked *)right)->row];
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	int order = rows->has_totals ? compare_sums(&a->total, &b->total) : 0;
	if (!order)
		order = compare_sums(&a->self, &b->self);
	struct subject a_subject = row_subject(rows, a), b_subject = row_subject(rows, b);
	for (size_t i = 0; i < rows->columns.count && !order; i++)
		order = rows->columns.items[i]->compare(&a_subject, &b_subject);
	return order;
}

static struct imp_error *sort_rows(struct rows *rows)
{
	size_t count = rows->items.count;
	_cleanup_free_ struct ranked *ranks = malloc(count * sizeof *ranks + 1);
	_cleanup_free_ uint32_t *places = malloc(count * sizeof *places + 1);
	struct row *sorted = malloc(count * sizeof *sorted + 1);
	if (!ranks || !places || !sorted) {
		free(sorted);
		return &imp_error_no_memory;
	}
	for (uint32_t i = 0; i < count; i++)
		ranks[i] = (struct ranked){ rows, i };
	if (count)
		qsort(ranks, count, sizeof *ranks, ranked_compare);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = rows->items.items[ranks[i].row];
		places[ranks[i].row] = i;
	}
	free(rows->items.items);
	rows->items.items = sorted;
	for (size_t i = 0; i < rows->tree->nodes.count; i++)
		if (rows->row_of_node[i] != NO_NUMBER)
			rows->row_of_node[i] = places[rows->row_of_node[i]];
	return NULL;
}

static void find_ends(struct rows *rows)
{
	size_t at = 0;
	for (uint32_t event = 0; event < rows->tree->profile->events.count; event++) {
		while (at < rows->items.count && rows->items.items[at].event == event)
			at++;
		rows->ends[event] = at;
	}
}

static struct imp_error *summing_init(struct summing *summing)
{
	struct rows *rows = summing->rows;
	const struct call_tree *tree = rows->tree;
	size_t nodes = tree->nodes.count;
	summing->of_root = malloc(tree->roots.count * sizeof(uint32_t) + 1);
	summing->of_symbol = malloc(tree->symbols.count * sizeof(uint32_t) + 1);
	summing->root_of_node = malloc(nodes * sizeof(uint32_t) + 1);
	rows->row_of_node = malloc(nodes * sizeof(uint32_t) + 1);
	rows->ends = calloc(tree->profile->events.count + 1, sizeof *rows->ends);
	bool has_room = summing->of_root && summing->of_symbol && summing->root_of_node &&
			rows->row_of_node && rows->ends;
	if (has_room && rows->has_totals) {
		rows->node_totals = calloc(nodes + 1, sizeof *rows->node_totals);
		rows->is_outermost = calloc(nodes + 1, sizeof *rows->is_outermost);
		has_room = rows->node_totals && rows->is_outermost;
	}
	return has_room ? NULL : &imp_error_no_memory;
}

struct imp_error *rows_make(const struct call_tree *tree, const struct column_list *columns,
			    bool with_totals, struct rows *ret)
{
	struct rows rows = { .tree = tree, .columns = *columns, .has_totals = with_totals };
	_cleanup_(summing_fini) struct summing summing = { .rows = &rows };
	struct imp_error *err = summing_init(&summing);
	if (!err)
		err = group_all(&summing);
	if (!err)
		err = sum_selves(&summing);
	if (!err && with_totals)
		sum_totals(&summing);
	if (!err)
		err = sort_rows(&rows);
	if (err) {
		rows_fini(&rows);
		return err;
	}
	find_ends(&rows);
	*ret = rows;
	return NULL;
}

void rows_fini(struct rows *rows)
{
	array_fini(&rows->items);
	free(rows->ends);
	free(rows->row_of_node);
	free(rows->is_outermost);
	free(rows->node_totals);
	rows->ends = NULL;
	rows->row_of_node = NULL;
	rows->is_outermost = NULL;
	rows->node_totals = NULL;
}
