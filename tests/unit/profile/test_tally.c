// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Interned stacks and their sums.
#include "profile/tally.h"

#include "harness/tap.h"

static const struct task any_task = { .pid = TASK_ANY, .tid = TASK_ANY, .cpu = TASK_ANY };

// Adds one sample of COMM with a stack of spots at these offsets in object 0.
static uint32_t add(struct tally *tally, const char *comm, const uint64_t *offsets, size_t count)
{
	uint32_t task = 0;
	struct stack_place at = { 0 };
	CHECK_OK(tally_task(tally, &(struct task_texts){ .comm = comm }, &any_task, &task));
	CHECK_OK(tally_root(tally, 0, task, &at));
	for (size_t i = 0; i < count; i++) {
		CHECK_OK(tally_call(tally, &(struct spot){ .offset = offsets[i] }, &at));
	}
	tally_add(tally, at.node, 1, 100);
	return at.node;
}

TEST(equal_stacks_are_one_node_and_their_sums_add_up)
{
	_cleanup_(tally_fini) struct tally tally = { 0 };
	const uint64_t stack[] = { 1, 2, 3 };
	uint32_t node = add(&tally, "a", stack, 3);
	CHECK_UINT(add(&tally, "a", stack, 3), node);
	CHECK_UINT(tally.nodes.count, 4);
	CHECK_UINT(tally.nodes.items[node].samples, 2);
	CHECK_UINT(tally.nodes.items[node].weight, 200);
	CHECK_UINT(tally.nodes.items[tally.nodes.items[node].parent].samples, 0);
}

TEST(stacks_share_their_beginning_and_nothing_else)
{
	_cleanup_(tally_fini) struct tally tally = { 0 };
	const uint64_t left[] = { 1, 2, 3 }, right[] = { 1, 2, 4 }, other[] = { 2, 1 };
	uint32_t left_node = add(&tally, "a", left, 3);
	uint32_t right_node = add(&tally, "a", right, 3);
	CHECK(left_node != right_node);
	CHECK_UINT(tally.nodes.items[left_node].parent, tally.nodes.items[right_node].parent);
	add(&tally, "a", other, 2);
	CHECK_UINT(tally.spots.count, 4);
	// A root, 1, 2, 3, 4 and 2, 1.
	CHECK_UINT(tally.nodes.count, 7);
}

TEST(a_task_without_a_name_is_not_one_with_an_empty_name)
{
	_cleanup_(tally_fini) struct tally tally = { 0 };
	uint32_t nameless = 0, empty = 0, named = 0;
	CHECK_OK(tally_task(&tally, &(struct task_texts){ 0 }, &any_task, &nameless));
	CHECK_OK(tally_task(&tally, &(struct task_texts){ .comm = "" }, &any_task, &empty));
	CHECK_OK(tally_task(&tally, &(struct task_texts){ .comm = "a" }, &any_task, &named));
	CHECK_UINT(tally.tasks.count, 3);
	CHECK_UINT(tally.tasks.items[nameless].comm, NO_NUMBER);
}

TEST(tasks_differ_by_each_of_their_texts)
{
	_cleanup_(tally_fini) struct tally tally = { 0 };
	static const struct task_texts texts[] = {
		{ .comm = "a" },
		{ .comm = "a", .cgroup = "/a" },
		{ .comm = "a", .cgroup = "/b" },
		{ .comm = "a", .cgroup = "/b", .cgroup_id = "4/0x1" },
		{ .comm = "a", .cgroup_id = "4/0x1" },
	};
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t first = 0, again = 0;
		CHECK_OK(tally_task(&tally, &texts[i], &any_task, &first));
		CHECK_OK(tally_task(&tally, &texts[i], &any_task, &again));
		CHECK_UINT(first, i);
		CHECK_UINT(again, i);
	}
	// Another tally's texts have other numbers.
	_cleanup_(tally_fini) struct tally sum = { 0 };
	uint32_t other = 0;
	CHECK_OK(tally_task(&sum, &(struct task_texts){ .comm = "/b" }, &any_task, &other));
	CHECK_OK(tally_merge(&sum, &tally));
	CHECK_UINT(sum.tasks.count, 6);
	CHECK_TEXT(strings_at(&sum.strings, sum.tasks.items[4].cgroup), "/b");
	CHECK_TEXT(strings_at(&sum.strings, sum.tasks.items[4].cgroup_id), "4/0x1");
}

TEST(spots_differ_by_every_field)
{
	_cleanup_(tally_fini) struct tally tally = { 0 };
	const struct spot spots[] = {
		{ .offset = 1 },
		{ .offset = 2 },
		{ .offset = 1, .object = 1 },
		{ .offset = 1, .is_return = true },
		{ .object = NO_NUMBER, .reason = UNKNOWN_UNMAPPED },
		{ .object = NO_NUMBER, .reason = UNKNOWN_NO_PROCESS },
		{ .object = NO_NUMBER, .reason = UNKNOWN_NO_PROCESS, .cpumode = 1 },
	};
	uint32_t number = 0;
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < sizeof spots / sizeof *spots; i++) {
			CHECK_OK(tally_spot(&tally, &spots[i], &number));
			CHECK_UINT(number, i);
		}
}

TEST(a_merge_adds_what_both_have_and_brings_what_one_has)
{
	_cleanup_(tally_fini) struct tally first = { 0 }, second = { 0 };
	const uint64_t shared[] = { 1, 2 }, only_first[] = { 1, 3 }, only_second[] = { 4, 1, 2 };
	uint32_t shared_node = add(&first, "a", shared, 2);
	add(&first, "a", only_first, 2);
	// Seen in another order, and under another task first: other numbers for the same.
	add(&second, "b", shared, 2);
	add(&second, "a", only_second, 3);
	add(&second, "a", shared, 2);
	CHECK_OK(tally_merge(&first, &second));
	CHECK_UINT(first.nodes.items[shared_node].samples, 2);
	CHECK_UINT(first.spots.count, 4);
	CHECK_UINT(first.tasks.count, 2);
	// Two roots; 1 2, 3, 4 1 2 below "a"; 1 2 below "b".
	CHECK_UINT(first.nodes.count, 2 + 6 + 2);
	uint64_t samples = 0, weight = 0;
	for (size_t i = 0; i < first.nodes.count; i++) {
		samples += first.nodes.items[i].samples;
		weight += first.nodes.items[i].weight;
	}
	CHECK_UINT(samples, 5);
	CHECK_UINT(weight, 500);
	CHECK_OK(tally_merge(&first, &(struct tally){ 0 }));
	CHECK_UINT(first.nodes.count, 10);
}
