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

// Of a root, `parent` is NO_NUMBER and `spot` is the number of the root.
struct stack_node {
	uint32_t parent, spot;
	// Samples that were taken exactly here.
	uint64_t samples, weight;
};

// A call in the table of nodes: (parent, spot) is known by 96 bits of a hash, see tally_call().
struct node_slot {
	uint64_t first;
	uint32_t second;
	// Node + 1; 0 is a free slot.
	uint32_t node;
};

// Zero-initialised is empty.
struct tally {
	struct strings strings;
	ARRAY_OF(struct task) tasks;
	ARRAY_OF(struct spot) spots;
	ARRAY_OF(struct stack_root) roots;
	// A parent stands before its children.
	ARRAY_OF(struct stack_node) nodes;
	struct table task_table, spot_table, root_table;
	struct node_slot *node_slots;
	size_t node_slot_mask;
	// Of the hash of calls. Where spots come from a hostile input, a random number.
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
// The node at which stacks of TASK under EVENT begin.
struct imp_error *tally_root(struct tally *tally, uint32_t event, uint32_t task,
			     uint32_t *ret) MUST_CHECK;
// The node of SPOT called from PARENT.
//
// This is where most of the time of an analysis goes, and it is spent waiting for memory: so one
// slot answers without a look at the node and its spot, by 96 bits of a seeded hash. Two of a
// hundred million calls are mistaken for each other once in 10^13 such profiles.
struct imp_error *tally_call(struct tally *tally, uint32_t parent, const struct spot *spot,
			     uint32_t *ret) MUST_CHECK;

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
