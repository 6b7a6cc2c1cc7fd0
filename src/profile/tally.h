// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sums of samples by interned stacks: what one thread gathers of its part of a recording, and what
// the parts add up to.
//
// Everything is known by small numbers, given in the order of first sight. Stacks are paths in a
// forest: a root is an event together with a task, a node is a call from its parent's place, so
// that equal beginnings are kept once and a sample's stack is one number.
#ifndef PROFILE_TALLY_H
#define PROFILE_TALLY_H

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/table.h"
#include "model/address.h"
#include "model/reason.h"

enum { NO_NUMBER = UINT32_MAX };

// Who ran. What was not asked to be told apart is TASK_ANY (NO_NUMBER for texts).
struct task {
	// Numbers of texts in the tally's strings, NO_NUMBER when not recorded: the command's name,
	// the cgroup's path, and the device and inode of the cgroup namespace.
	uint32_t comm, cgroup, cgroup_id;
	int32_t pid, tid, cpu;
};

// The texts of a task, each NULL when not recorded.
struct task_texts {
	const char *comm, *cgroup, *cgroup_id;
};
enum { TASK_ANY = -2 };

// Where code was: a spot in an object, or no object and the reason.
struct spot {
	uint64_t offset;
	// Number of the object; NO_NUMBER when none was mapped there.
	uint32_t object;
	// Bits of PERF_RECORD_MISC_CPUMODE_MASK, where there is no object to tell the privilege by.
	uint8_t cpumode;
	uint8_t reason;
	// A return address: the call is in the byte before.
	bool is_return;
};

struct stack_root {
	uint32_t event, task;
	// The forest's node for it.
	uint32_t node;
};

// A hash of a whole stack, from its root down to one call: what is called from there is known by
// the key and a spot alone, so that nothing has to be looked up on the way. In two halves that take
// the words in another order: one collision says nothing of the other.
struct stack_key {
	uint64_t first, second;
};

// Of a root, `parent` is NO_NUMBER and `spot` is the number of the root.
struct stack_node {
	uint32_t parent, spot;
	// Samples that were taken exactly here.
	uint64_t samples, weight;
	// The first half of its key.
	uint64_t mark;
};

// A node and its key.
struct stack_place {
	uint32_t node;
	struct stack_key key;
};

// Zero-initialised is empty.
struct tally {
	struct strings strings;
	ARRAY_OF(struct task) tasks;
	ARRAY_OF(struct spot) spots;
	ARRAY_OF(struct stack_root) roots;
	// A parent stands before its children.
	ARRAY_OF(struct stack_node) nodes;
	// Nodes, roots too, by the second half of their keys.
	struct table task_table, spot_table, root_table, node_table;
	// Of the keys of roots. Where spots come from a hostile input, a random number.
	uint64_t seed;
};

void tally_fini(struct tally *tally);

bool task_equal(const struct task *a, const struct task *b);
uint64_t task_hash(const struct task *task);

// The number of TASK with TEXTS, whatever numbers of texts stand in TASK.
struct imp_error *tally_task(struct tally *tally, const struct task_texts *texts,
			     const struct task *task, uint32_t *ret) MUST_CHECK;
struct imp_error *tally_spot(struct tally *tally, const struct spot *spot,
			     uint32_t *ret) MUST_CHECK;
// The place at which stacks of TASK under EVENT begin.
struct imp_error *tally_root(struct tally *tally, uint32_t event, uint32_t task,
			     struct stack_place *ret) MUST_CHECK;
// Goes from *AT down to SPOT called from there.
struct imp_error *tally_call(struct tally *tally, const struct spot *spot,
			     struct stack_place *at) MUST_CHECK;

// All that is beside the offset, in one word.
static inline uint64_t spot_traits(const struct spot *spot)
{
	return (uint64_t)spot->object << 24 | (uint64_t)spot->reason << 16 |
	       (uint64_t)spot->cpumode << 8 | spot->is_return;
}

// The key of SPOT called from where ABOVE is the key of.
static inline struct stack_key stack_key_below(const struct stack_key *above,
					       const struct spot *spot)
{
	uint64_t traits = spot_traits(spot);
	return (struct stack_key){
		.first = hash_mix(hash_mix(above->first, spot->offset), traits),
		.second = hash_mix(hash_mix(above->second, traits), ~spot->offset),
	};
}

// The node with KEY, or NO_NUMBER.
//
// This is where most of the time of an analysis goes, and it is spent waiting for memory: so a
// node is known by 96 bits of its key, without a look at its parent and spot. Two of a hundred
// million calls are mistaken for each other once in 10^13 such profiles.
static inline uint32_t tally_find(const struct tally *tally, const struct stack_key *key)
{
	struct table_probe probe = table_probe(&tally->node_table, key->second);
	uint32_t number;
	while (table_next(&tally->node_table, &probe, &number))
		if (tally->nodes.items[number].mark == key->first)
			return number;
	return NO_NUMBER;
}

// Has what tally_find() will look at brought near: first its table, and with a second call, when
// that is there, its node.
static inline void tally_prefetch(const struct tally *tally, const struct stack_key *key)
{
	table_prefetch(&tally->node_table, key->second);
}

static inline void tally_prefetch_node(const struct tally *tally, const struct stack_key *key)
{
	struct table_probe probe = table_probe(&tally->node_table, key->second);
	uint32_t number;
	if (table_next(&tally->node_table, &probe, &number))
		__builtin_prefetch(&tally->nodes.items[number], 1);
}

// Adds the node with KEY, that of SPOT called from PARENT, which tally_find() does not have.
struct imp_error *tally_add_call(struct tally *tally, uint32_t parent, const struct spot *spot,
				 const struct stack_key *key, uint32_t *ret) MUST_CHECK;

static inline void tally_add(struct tally *tally, uint32_t node, uint64_t samples, uint64_t weight)
{
	tally->nodes.items[node].samples += samples;
	tally->nodes.items[node].weight += weight;
}

static inline bool stack_node_is_root(const struct stack_node *node)
{
	return node->parent == NO_NUMBER;
}

// Adds all that FROM holds to TALLY.
struct imp_error *tally_merge(struct tally *tally, const struct tally *from) MUST_CHECK;

#endif
