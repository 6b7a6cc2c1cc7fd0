// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Interning of tasks, spots and stacks, and adding one tally to another.
#include "profile/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

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
	free(tally->node_slots);
	tally->node_slots = NULL;
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

// All that is beside the offset, in one word.
static uint64_t spot_traits(const struct spot *spot)
{
	return (uint64_t)spot->object << 24 | (uint64_t)spot->reason << 16 |
	       (uint64_t)spot->cpumode << 8 | spot->is_return;
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
				  uint32_t *ret)
{
	struct stack_node *fresh = is_full(tally->nodes.count) ? NULL : array_add(&tally->nodes);
	if (!fresh)
		return &imp_error_no_memory;
	fresh->parent = parent;
	fresh->spot = spot;
	*ret = (uint32_t)tally->nodes.count - 1;
	return NULL;
}

struct imp_error *tally_root(struct tally *tally, uint32_t event, uint32_t task, uint32_t *ret)
{
	uint64_t hash = hash_mix(hash_mix(0, event), task);
	struct table_probe probe = table_probe(&tally->root_table, hash);
	uint32_t number;
	while (table_next(&tally->root_table, &probe, &number)) {
		const struct stack_root *root = &tally->roots.items[number];
		if (root->event == event && root->task == task) {
			*ret = root->node;
			return NULL;
		}
	}
	number = (uint32_t)tally->roots.count;
	struct stack_root *fresh = array_add(&tally->roots);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = (struct stack_root){ .event = event, .task = task };
	struct imp_error *err = node_add(tally, NO_NUMBER, number, &fresh->node);
	if (err)
		return err;
	*ret = fresh->node;
	return table_insert(&tally->root_table, hash, number) ? NULL : &imp_error_no_memory;
}

static size_t slot_find(const struct node_slot *slots, size_t mask, const struct node_slot *wanted)
{
	size_t at = wanted->first & mask;
	while (slots[at].node &&
	       (slots[at].first != wanted->first || slots[at].second != wanted->second))
		at = (at + 1) & mask;
	return at;
}

// Keeps at least a quarter of the slots free.
static struct imp_error *slots_reserve(struct tally *tally)
{
	size_t old_room = tally->node_slots ? tally->node_slot_mask + 1 : 0;
	if (tally->nodes.count < old_room / 4 * 3)
		return NULL;
	size_t room = old_room ? old_room * 2 : 64;
	struct node_slot *slots = calloc(room, sizeof *slots);
	if (!slots)
		return &imp_error_no_memory;
	memory_is_big(slots, room * sizeof *slots);
	for (size_t i = 0; i < old_room; i++)
		if (tally->node_slots[i].node)
			slots[slot_find(slots, room - 1, &tally->node_slots[i])] =
				tally->node_slots[i];
	free(tally->node_slots);
	tally->node_slots = slots;
	tally->node_slot_mask = room - 1;
	return NULL;
}

struct imp_error *tally_call(struct tally *tally, uint32_t parent, const struct spot *spot,
			     uint32_t *ret)
{
	struct imp_error *err = slots_reserve(tally);
	if (err)
		return err;
	// Two hashes that take the words in another order: one collision says nothing of the other.
	uint64_t traits = spot_traits(spot);
	struct node_slot wanted = {
		.first = hash_mix(hash_mix(hash_mix(tally->seed, parent), spot->offset), traits),
		.second = (uint32_t)hash_mix(hash_mix(hash_mix(~tally->seed, spot->offset), traits),
					     parent),
	};
	struct node_slot *slot =
		&tally->node_slots[slot_find(tally->node_slots, tally->node_slot_mask, &wanted)];
	if (slot->node) {
		*ret = slot->node - 1;
		return NULL;
	}
	uint32_t number;
	err = tally_spot(tally, spot, &number);
	if (!err)
		err = node_add(tally, parent, number, ret);
	if (err)
		return err;
	wanted.node = *ret + 1;
	*slot = wanted;
	return NULL;
}

// From FROM's numbers to TALLY's.
struct renumbering {
	uint32_t *tasks, *nodes;
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

static struct imp_error *merge_nodes(struct tally *tally, const struct tally *from,
				     const struct renumbering *numbers)
{
	for (size_t i = 0; i < from->nodes.count; i++) {
		const struct stack_node *node = &from->nodes.items[i];
		struct imp_error *err;
		if (stack_node_is_root(node)) {
			const struct stack_root *root = &from->roots.items[node->spot];
			err = tally_root(tally, root->event, numbers->tasks[root->task],
					 &numbers->nodes[i]);
		} else {
			err = tally_call(tally, numbers->nodes[node->parent],
					 &from->spots.items[node->spot], &numbers->nodes[i]);
		}
		if (err)
			return err;
		tally_add(tally, numbers->nodes[i], node->samples, node->weight);
	}
	return NULL;
}

struct imp_error *tally_merge(struct tally *tally, const struct tally *from)
{
	_cleanup_(renumbering_fini) struct renumbering numbers = {
		.tasks = malloc(from->tasks.count * sizeof(uint32_t) + 1),
		.nodes = malloc(from->nodes.count * sizeof(uint32_t) + 1),
	};
	if (!numbers.tasks || !numbers.nodes)
		return &imp_error_no_memory;
	struct imp_error *err = merge_tasks(tally, from, numbers.tasks);
	return err ? err : merge_nodes(tally, from, &numbers);
}
