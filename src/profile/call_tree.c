// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Building a call tree from a tally and the names of its spots.
#include "profile/call_tree.h"

#include <stdlib.h>

#include "base/hash.h"

// What is needed while a tree is built.
struct build {
	const struct profile *profile;
	const struct call_tree_options *options;
	struct call_tree *tree;
	struct table symbol_table, root_table, node_table;
	// Symbols of all spots, innermost first; those of spot I begin at first[I] and end at
	// first[I + 1].
	ARRAY_OF(uint32_t) spot_symbols;
	uint32_t *first;
	// For each node of the tally, the tree's node that stands for it.
	uint32_t *nodes;
};

static void build_fini(struct build *build)
{
	table_fini(&build->symbol_table);
	table_fini(&build->root_table);
	table_fini(&build->node_table);
	array_fini(&build->spot_symbols);
	free(build->first);
	free(build->nodes);
}

static bool symbol_equal(const struct call_symbol *a, const struct call_symbol *b)
{
	return a->object == b->object && a->function == b->function && a->file == b->file &&
	       a->line == b->line && a->reason == b->reason && a->offset == b->offset &&
	       a->cpumode == b->cpumode && a->is_inlined == b->is_inlined &&
	       a->is_forced == b->is_forced;
}

static struct imp_error *symbol_intern(struct build *build, const struct call_symbol *symbol,
				       uint32_t *ret)
{
	uint64_t hash = hash_mix(hash_mix(0, symbol->offset),
				 (uint64_t)symbol->object << 32 | symbol->function);
	hash = hash_mix(hash, (uint64_t)symbol->file << 32 | symbol->line);
	struct table_probe probe = table_probe(&build->symbol_table, hash);
	while (table_next(&build->symbol_table, &probe, ret))
		if (symbol_equal(&build->tree->symbols.items[*ret], symbol))
			return NULL;
	struct call_symbol *fresh = array_add(&build->tree->symbols);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *symbol;
	*ret = (uint32_t)build->tree->symbols.count - 1;
	return table_insert(&build->symbol_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

static struct call_symbol symbol_of_spot(const struct build *build, const struct spot *spot,
					 const struct spot_name *name)
{
	const struct profile_object *object = profile_object_of(build->profile, spot);
	bool has_file = object && object->image.kind != IMAGE_ANON;
	struct call_symbol symbol = {
		.object = spot->object,
		.function = NO_NUMBER,
		.file = NO_NUMBER,
		.reason = name->reason,
		.offset = has_file ? spot->offset : 0,
		.cpumode = object ? 0 : spot->cpumode,
		.is_forced = name->is_forced,
	};
	if (object && !build->options->keep_objects)
		symbol.object = object->same;
	return symbol;
}

static struct imp_error *add_spot_symbol(struct build *build, const struct call_symbol *symbol)
{
	uint32_t number;
	struct imp_error *err = symbol_intern(build, symbol, &number);
	if (err)
		return err;
	uint32_t *fresh = array_add(&build->spot_symbols);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = number;
	return NULL;
}

static struct imp_error *name_spot(struct build *build, size_t index)
{
	const struct spot_name *name = &build->profile->names[index];
	struct call_symbol base =
		symbol_of_spot(build, &build->profile->tally.spots.items[index], name);
	if (!name->count)
		return add_spot_symbol(build, &base);
	base.offset = 0;
	if (build->options->by_name_only) {
		base.object = NO_NUMBER;
		base.is_forced = false;
	}
	const struct profile_frame *frames = &build->profile->frames.items[name->first];
	uint32_t begin = build->options->no_inlined ? name->count - 1 : 0;
	for (uint32_t i = begin; i < name->count; i++) {
		struct call_symbol symbol = base;
		symbol.function = frames[i].function;
		symbol.is_inlined = frames[i].is_inlined && !build->options->by_name_only;
		if (build->options->by_line) {
			// What was inlined there still tells the line.
			const struct profile_frame *line = build->options->no_inlined ? frames
										      : &frames[i];
			symbol.file = line->file;
			symbol.line = line->line;
		}
		struct imp_error *err = add_spot_symbol(build, &symbol);
		if (err)
			return err;
	}
	return NULL;
}

static struct imp_error *name_spots(struct build *build)
{
	size_t count = build->profile->tally.spots.count;
	build->first = malloc((count + 1) * sizeof *build->first);
	if (!build->first)
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++) {
		build->first[i] = (uint32_t)build->spot_symbols.count;
		struct imp_error *err = name_spot(build, i);
		if (err)
			return err;
	}
	build->first[count] = (uint32_t)build->spot_symbols.count;
	return NULL;
}

static struct imp_error *node_add(struct build *build, uint32_t parent, uint32_t symbol,
				  uint32_t *ret)
{
	struct call_node *fresh = array_add(&build->tree->nodes);
	if (!fresh)
		return &imp_error_no_memory;
	fresh->parent = parent;
	fresh->symbol = symbol;
	*ret = (uint32_t)build->tree->nodes.count - 1;
	return NULL;
}

static struct imp_error *call_intern(struct build *build, uint32_t parent, uint32_t symbol,
				     uint32_t *ret)
{
	uint64_t hash = hash_mix(0, (uint64_t)parent << 32 | symbol);
	struct table_probe probe = table_probe(&build->node_table, hash);
	while (table_next(&build->node_table, &probe, ret)) {
		const struct call_node *node = &build->tree->nodes.items[*ret];
		if (node->parent == parent && node->symbol == symbol)
			return NULL;
	}
	struct imp_error *err = node_add(build, parent, symbol, ret);
	if (err)
		return err;
	return table_insert(&build->node_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

static struct task reduced_task(const struct build *build, const struct task *task)
{
	const struct call_tree_options *options = build->options;
	return (struct task){
		.comm = options->by_comm ? task->comm : NO_NUMBER,
		.cgroup = options->by_cgroup ? task->cgroup : NO_NUMBER,
		.cgroup_id = options->by_cgroup_id ? task->cgroup_id : NO_NUMBER,
		.pid = options->by_pid ? task->pid : TASK_ANY,
		.tid = options->by_tid ? task->tid : TASK_ANY,
		.cpu = options->by_cpu ? task->cpu : TASK_ANY,
	};
}

static struct imp_error *root_intern(struct build *build, const struct stack_root *from,
				     uint32_t *ret)
{
	struct call_root root = {
		.event = build->options->any_event ? 0 : from->event,
		.task = reduced_task(build, &build->profile->tally.tasks.items[from->task]),
	};
	const struct task *task = &root.task;
	uint64_t hash = hash_mix(task_hash(task), root.event);
	struct table_probe probe = table_probe(&build->root_table, hash);
	while (table_next(&build->root_table, &probe, ret)) {
		const struct call_root *other =
			&build->tree->roots.items[build->tree->nodes.items[*ret].symbol];
		if (other->event == root.event && task_equal(&other->task, task))
			return NULL;
	}
	struct call_root *fresh = array_add(&build->tree->roots);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = root;
	struct imp_error *err =
		node_add(build, NO_NUMBER, (uint32_t)build->tree->roots.count - 1, ret);
	if (err)
		return err;
	return table_insert(&build->root_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

// Goes down from PARENT by all frames of SPOT, the outermost first.
static struct imp_error *descend(struct build *build, uint32_t parent, uint32_t spot, uint32_t *ret)
{
	uint32_t at = parent;
	for (uint32_t i = build->first[spot + 1]; i > build->first[spot]; i--) {
		struct imp_error *err =
			call_intern(build, at, build->spot_symbols.items[i - 1], &at);
		if (err)
			return err;
	}
	*ret = at;
	return NULL;
}

static void node_count(struct build *build, uint32_t number, const struct stack_node *from)
{
	struct call_node *node = &build->tree->nodes.items[number];
	node->samples += from->samples;
	node->weight += from->weight;
}

static struct imp_error *build_stacks(struct build *build)
{
	const struct tally *tally = &build->profile->tally;
	for (size_t i = 0; i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		struct imp_error *err;
		if (stack_node_is_root(node))
			err = root_intern(build, &tally->roots.items[node->spot], &build->nodes[i]);
		else
			err = descend(build, build->nodes[node->parent], node->spot,
				      &build->nodes[i]);
		if (err)
			return err;
		node_count(build, build->nodes[i], node);
	}
	return NULL;
}

// As build_stacks(), but every node stands directly below its root.
static struct imp_error *build_leaves(struct build *build)
{
	const struct tally *tally = &build->profile->tally;
	for (size_t i = 0; i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		struct imp_error *err = NULL;
		if (stack_node_is_root(node))
			err = root_intern(build, &tally->roots.items[node->spot], &build->nodes[i]);
		else
			build->nodes[i] = build->nodes[node->parent];
		uint32_t leaf = build->nodes[i];
		if (!err && !stack_node_is_root(node) && (node->samples || node->weight))
			err = descend(build, leaf, node->spot, &leaf);
		if (err)
			return err;
		node_count(build, leaf, node);
	}
	return NULL;
}

struct imp_error *call_tree_new(const struct profile *profile,
				const struct call_tree_options *options, struct call_tree **ret)
{
	_cleanup_call_tree_ struct call_tree *tree = calloc(1, sizeof *tree);
	_cleanup_(build_fini) struct build build = {
		.profile = profile,
		.options = options,
		.tree = tree,
		.nodes = malloc(profile->tally.nodes.count * sizeof *build.nodes + 1),
	};
	if (!tree || !build.nodes)
		return &imp_error_no_memory;
	tree->profile = profile;
	struct imp_error *err = name_spots(&build);
	if (!err)
		err = options->leaves_only ? build_leaves(&build) : build_stacks(&build);
	if (err)
		return err;
	*ret = steal(tree);
	return NULL;
}

void call_tree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	array_fini(&tree->symbols);
	array_fini(&tree->roots);
	array_fini(&tree->nodes);
	free(tree);
}
