// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Interning of tasks, spots and stacks, and adding one tally to another.
#include "profile/tally.h"

#include <stdlib.h>
#include <string.h>

void tally_fini(struct tally *tally)
{
	strings_fini(&tally->strings);
	array_fini(&tally->tasks);
	array_fini(&tally->spots);
	array_fini(&tally->roots);
	array_fini(&tally->nodes);
	table_fini(&tally->task_table);
	table_fini(&tally->spot_table);
	table_fini(&tally->root_table);
	table_fini(&tally->node_table);
}

bool task_equal(const struct task *a, const struct task *b)
{
	return a->comm == b->comm && a->cgroup == b->cgroup && a->cgroup_id == b->cgroup_id &&
	       a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

uint64_t task_hash(const struct task *task)
{
	uint64_t hash = hash_mix(hash_mix(task->comm, (uint32_t)task->pid), (uint32_t)task->tid);
	hash = hash_mix(hash, (uint32_t)task->cpu);
	return hash_mix(hash, (uint64_t)task->cgroup << 32 | task->cgroup_id);
}

// Numbers are one below NO_NUMBER at most, which also keeps them in a table's reach.
static bool is_full(size_t count)
{
	return count >= NO_NUMBER - 1;
}

static struct imp_error *task_intern(struct tally *tally, const struct task *task, uint32_t *ret)
{
	uint64_t hash = task_hash(task);
	struct table_probe probe = table_probe(&tally->task_table, hash);
	while (table_next(&tally->task_table, &probe, ret))
		if (task_equal(&tally->tasks.items[*ret], task))
			return NULL;
	struct task *fresh = is_full(tally->tasks.count) ? NULL : array_add(&tally->tasks);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *task;
	*ret = (uint32_t)tally->tasks.count - 1;
	return table_insert(&tally->task_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

static struct imp_error *text_intern(struct tally *tally, const char *text, uint32_t *ret)
{
	*ret = NO_NUMBER;
	return text ? strings_intern(&tally->strings, text, strlen(text), ret) : NULL;
}

struct imp_error *tally_task(struct tally *tally, const struct task_texts *texts,
			     const struct task *task, uint32_t *ret)
{
	struct task named = *task;
	struct imp_error *err = text_intern(tally, texts->comm, &named.comm);
	if (!err)
		err = text_intern(tally, texts->cgroup, &named.cgroup);
	if (!err)
		err = text_intern(tally, texts->cgroup_id, &named.cgroup_id);
	return err ? err : task_intern(tally, &named, ret);
}

static bool spot_equal(const struct spot *a, const struct spot *b)
{
	return a->offset == b->offset && a->object == b->object && a->is_return == b->is_return &&
	       a->reason == b->reason && a->cpumode == b->cpumode;
}

struct imp_error *tally_spot(struct tally *tally, const struct spot *spot, uint32_t *ret)
{
	uint64_t hash = hash_mix(hash_mix(0, spot->offset), spot_traits(spot));
	struct table_probe probe = table_probe(&tally->spot_table, hash);
	while (table_next(&tally->spot_table, &probe, ret))
		if (spot_equal(&tally->spots.items[*ret], spot))
			return NULL;
	struct spot *fresh = is_full(tally->spots.count) ? NULL : array_add(&tally->spots);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *spot;
	*ret = (uint32_t)tally->spots.count - 1;
	return table_insert(&tally->spot_table, hash, *ret) ? NULL : &imp_error_no_memory;
}

static struct imp_error *node_add(struct tally *tally, uint32_t parent, uint32_t spot,
				  uint64_t mark, uint32_t *ret)
{
	struct stack_node *fresh = is_full(tally->nodes.count) ? NULL : array_add(&tally->nodes);
	if (!fresh)
		return &imp_error_no_memory;
	fresh->parent = parent;
	fresh->spot = spot;
	fresh->mark = mark;
	*ret = (uint32_t)tally->nodes.count - 1;
	return NULL;
}

static struct stack_key root_key(const struct tally *tally, uint32_t event, uint32_t task)
{
	return (struct stack_key){
		.first = hash_mix(hash_mix(tally->seed, event), task),
		.second = hash_mix(hash_mix(~tally->seed, task), event),
	};
}

struct imp_error *tally_root(struct tally *tally, uint32_t event, uint32_t task,
			     struct stack_place *ret)
{
	struct stack_place place = { .key = root_key(tally, event, task) };
	struct table_probe probe = table_probe(&tally->root_table, place.key.second);
	uint32_t number;
	while (table_next(&tally->root_table, &probe, &number)) {
		const struct stack_root *root = &tally->roots.items[number];
		if (root->event == event && root->task == task) {
			place.node = root->node;
			*ret = place;
			return NULL;
		}
	}
	number = (uint32_t)tally->roots.count;
	struct stack_root *fresh = array_add(&tally->roots);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = (struct stack_root){ .event = event, .task = task };
	struct imp_error *err = node_add(tally, NO_NUMBER, number, place.key.first, &fresh->node);
	if (err)
		return err;
	place.node = fresh->node;
	*ret = place;
	bool is_known = table_insert(&tally->root_table, place.key.second, number) &&
			table_insert(&tally->node_table, place.key.second, place.node);
	return is_known ? NULL : &imp_error_no_memory;
}

struct imp_error *tally_add_call(struct tally *tally, uint32_t parent, const struct spot *spot,
				 const struct stack_key *key, uint32_t *ret)
{
	uint32_t number;
	struct imp_error *err = tally_spot(tally, spot, &number);
	if (!err)
		err = node_add(tally, parent, number, key->first, ret);
	if (err)
		return err;
	return table_insert(&tally->node_table, key->second, *ret) ? NULL : &imp_error_no_memory;
}

struct imp_error *tally_call(struct tally *tally, const struct spot *spot, struct stack_place *at)
{
	struct stack_place below = { .key = stack_key_below(&at->key, spot) };
	below.node = tally_find(tally, &below.key);
	struct imp_error *err = NULL;
	if (below.node == NO_NUMBER)
		err = tally_add_call(tally, at->node, spot, &below.key, &below.node);
	if (!err)
		*at = below;
	return err;
}

// From FROM's numbers to TALLY's.
struct renumbering {
	uint32_t *tasks;
	struct stack_place *nodes;
};

static void renumbering_fini(struct renumbering *numbers)
{
	free(numbers->tasks);
	free(numbers->nodes);
}

static const char *text_of(const struct tally *tally, uint32_t number)
{
	return number == NO_NUMBER ? NULL : strings_at(&tally->strings, number);
}

static struct imp_error *merge_tasks(struct tally *tally, const struct tally *from,
				     uint32_t *numbers)
{
	for (size_t i = 0; i < from->tasks.count; i++) {
		const struct task *task = &from->tasks.items[i];
		struct task_texts texts = { .comm = text_of(from, task->comm),
					    .cgroup = text_of(from, task->cgroup),
					    .cgroup_id = text_of(from, task->cgroup_id) };
		struct imp_error *err = tally_task(tally, &texts, task, &numbers[i]);
		if (err)
			return err;
	}
	return NULL;
}

// Gives FROM's nodes the keys that they have in TALLY, and its roots their nodes.
static struct imp_error *key_nodes(struct tally *tally, const struct tally *from,
				   const struct renumbering *numbers)
{
	for (size_t i = 0; i < from->nodes.count; i++) {
		const struct stack_node *node = &from->nodes.items[i];
		struct stack_place *place = &numbers->nodes[i];
		if (!stack_node_is_root(node)) {
			place->key = stack_key_below(&numbers->nodes[node->parent].key,
						     &from->spots.items[node->spot]);
			continue;
		}
		const struct stack_root *root = &from->roots.items[node->spot];
		struct imp_error *err =
			tally_root(tally, root->event, numbers->tasks[root->task], place);
		if (err)
			return err;
	}
	return NULL;
}

static struct imp_error *merge_nodes(struct tally *tally, const struct tally *from,
				     const struct renumbering *numbers)
{
	enum { AHEAD = 16 };
	size_t count = from->nodes.count;
	struct imp_error *err = key_nodes(tally, from, numbers);
	for (size_t i = 0; i < count && !err; i++) {
		const struct stack_node *node = &from->nodes.items[i];
		struct stack_place *place = &numbers->nodes[i];
		if (i + AHEAD < count)
			tally_prefetch(tally, &numbers->nodes[i + AHEAD].key);
		if (i + AHEAD / 2 < count)
			tally_prefetch_node(tally, &numbers->nodes[i + AHEAD / 2].key);
		if (!stack_node_is_root(node))
			place->node = tally_find(tally, &place->key);
		if (place->node == NO_NUMBER)
			err = tally_add_call(tally, numbers->nodes[node->parent].node,
					     &from->spots.items[node->spot], &place->key,
					     &place->node);
		if (!err)
			tally_add(tally, place->node, node->samples, node->weight);
	}
	return err;
}

struct imp_error *tally_merge(struct tally *tally, const struct tally *from)
{
	_cleanup_(renumbering_fini) struct renumbering numbers = {
		.tasks = malloc(from->tasks.count * sizeof(uint32_t) + 1),
		.nodes = malloc(from->nodes.count * sizeof *numbers.nodes + 1),
	};
	if (!numbers.tasks || !numbers.nodes)
		return &imp_error_no_memory;
	struct imp_error *err = merge_tasks(tally, from, numbers.tasks);
	return err ? err : merge_nodes(tally, from, &numbers);
}
