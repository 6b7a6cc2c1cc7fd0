// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A profile seen by functions: stacks of what frames are called, with what was inlined standing as
// frames of its own.
#ifndef PROFILE_CALL_TREE_H
#define PROFILE_CALL_TREE_H

#include "profile/profile.h"

// What a frame is shown as. Equal ones have one number.
struct call_symbol {
	// Number of an object that stands for itself (unless keep_objects); NO_NUMBER for none.
	uint32_t object;
	// Numbers of strings. Without a function there is a reason.
	uint32_t function;
	uint32_t file, line;
	enum unknown_reason reason;
	// Of an unnamed frame: where in the object; 0 where that says nothing.
	uint64_t offset;
	// Where there is no object: bits of PERF_RECORD_MISC_CPUMODE_MASK.
	uint8_t cpumode;
	bool is_inlined;
	bool is_forced;
};

// A call from the parent's function. A root (parent NO_NUMBER) has the number of a call_root.
struct call_node {
	uint32_t parent, symbol;
	uint64_t samples, weight;
};

struct call_root {
	uint32_t event;
	struct task task;
};

struct call_tree_options {
	// Which fields of a task tell two apart; the others become TASK_ANY.
	bool by_comm, by_pid, by_tid, by_cpu, by_cgroup, by_cgroup_id;
	// Samples of all events are added up, as of event 0.
	bool any_event;
	// Frames of different source lines are different.
	bool by_line;
	// Objects of one build ID under several paths, or with identities from several places,
	// stay apart.
	bool keep_objects;
	// Only the place of the sample itself: each stack is one frame.
	bool leaves_only;
	// Functions of one name are one, whatever object they are in.
	bool by_name_only;
	// Leave out what was inlined: the function that stands there as a symbol is shown.
	bool no_inlined;
};

struct call_tree {
	// Lent.
	const struct profile *profile;
	ARRAY_OF(struct call_symbol) symbols;
	ARRAY_OF(struct call_root) roots;
	// A parent stands before its children.
	ARRAY_OF(struct call_node) nodes;
};

// PROFILE is lent until call_tree_free().
struct imp_error *call_tree_new(const struct profile *profile,
				const struct call_tree_options *options,
				struct call_tree **ret) MUST_CHECK;
void call_tree_free(struct call_tree *tree);

static inline bool call_node_is_root(const struct call_node *node)
{
	return node->parent == NO_NUMBER;
}

DEFINE_CLEANUP(struct call_tree *, call_tree, call_tree_free)
#define _cleanup_call_tree_ __attribute__((cleanup(cleanup_call_tree)))

#endif
