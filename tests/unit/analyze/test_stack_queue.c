// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Stacks that are taken in several at a time.
#include "analyze/stack_queue.h"

#include "harness/tap.h"

static const struct task any_task = { .pid = TASK_ANY, .tid = TASK_ANY, .cpu = TASK_ANY };

static struct stack_place root_of(struct tally *tally)
{
	struct stack_place root = { 0 };
	uint32_t task = 0;
	CHECK_OK(tally_task(tally, &(struct task_texts){ .comm = "a" }, &any_task, &task));
	CHECK_OK(tally_root(tally, 0, task, &root));
	return root;
}

// Queues a sample of weight 10 with the stack of offsets that the digits of STACK are, below KEY,
// and gives the key of its last call.
static struct stack_key add(struct stack_queue *queue, struct tally *tally, struct stack_key key,
			    const char *stack)
{
	stack_queue_begin(queue, &key);
	for (; *stack; stack++) {
		struct spot spot = { .offset = (uint64_t)*stack };
		CHECK_OK(stack_queue_step(queue, &spot, &key));
	}
	CHECK_OK(stack_queue_end(queue, tally, 10));
	return key;
}

// The samples at the end of STACK, walked call by call from ROOT.
static uint64_t samples_at(struct tally *tally, struct stack_place root, const char *stack)
{
	size_t before = tally->nodes.count;
	for (; *stack; stack++) {
		struct spot spot = { .offset = (uint64_t)*stack };
		CHECK_OK(tally_call(tally, &spot, &root));
	}
	CHECK_UINT(tally->nodes.count, before);
	return tally->nodes.items[root.node].samples;
}

TEST(what_was_queued_is_what_calls_one_by_one_lead_to)
{
	_cleanup_(tally_fini) struct tally tally = { .seed = 7 };
	struct stack_queue queue = { .count = 0 };
	struct stack_place root = root_of(&tally);
	add(&queue, &tally, root.key, "123");
	add(&queue, &tally, root.key, "12");
	add(&queue, &tally, root.key, "124");
	add(&queue, &tally, root.key, "123");
	CHECK_UINT(tally.nodes.count, 1);
	CHECK_OK(stack_queue_flush(&queue, &tally));
	CHECK_UINT(tally.nodes.count, 5);
	CHECK_UINT(samples_at(&tally, root, "123"), 2);
	CHECK_UINT(samples_at(&tally, root, "12"), 1);
	CHECK_UINT(samples_at(&tally, root, "124"), 1);
	CHECK_UINT(samples_at(&tally, root, "1"), 0);
	CHECK_UINT(tally.nodes.items[tally_find(&tally, &root.key)].samples, 0);
	stack_queue_fini(&queue);
}

TEST(a_stack_may_begin_where_one_leads_that_is_still_queued)
{
	_cleanup_(tally_fini) struct tally tally = { .seed = 7 };
	struct stack_queue queue = { .count = 0 };
	struct stack_place root = root_of(&tally);
	struct stack_key callers = add(&queue, &tally, root.key, "12");
	add(&queue, &tally, callers, "3");
	CHECK_UINT(tally.nodes.count, 1);
	CHECK_OK(stack_queue_flush(&queue, &tally));
	CHECK_UINT(samples_at(&tally, root, "12"), 1);
	CHECK_UINT(samples_at(&tally, root, "123"), 1);
	stack_queue_fini(&queue);
}

TEST(a_full_queue_empties_itself_and_keeps_the_order)
{
	_cleanup_(tally_fini) struct tally tally = { .seed = 7 };
	struct stack_queue queue = { .count = 0 };
	struct stack_place root = root_of(&tally);
	uint64_t added = 0;
	for (unsigned round = 0; round < 3 * STACK_QUEUE_ROOM + 5; round++) {
		const char stack[] = { '1', (char)('A' + round % 7), '\0' };
		add(&queue, &tally, root.key, stack);
		added++;
		CHECK(queue.count < STACK_QUEUE_ROOM);
	}
	CHECK_OK(stack_queue_flush(&queue, &tally));
	// A root, 1, and seven below it in the order of first sight.
	CHECK_UINT(tally.nodes.count, 9);
	for (uint32_t i = 0; i < 7; i++)
		CHECK_UINT(tally.spots.items[i + 1].offset, 'A' + i);
	uint64_t samples = 0, weight = 0;
	for (size_t i = 0; i < tally.nodes.count; i++) {
		samples += tally.nodes.items[i].samples;
		weight += tally.nodes.items[i].weight;
	}
	CHECK_UINT(samples, added);
	CHECK_UINT(weight, 10 * added);
	stack_queue_fini(&queue);
}

TEST(a_beginning_that_nobody_has_is_an_error_and_no_other_stack)
{
	_cleanup_(tally_fini) struct tally tally = { .seed = 7 };
	struct stack_queue queue = { .count = 0 };
	struct stack_place root = root_of(&tally);
	add(&queue, &tally, (struct stack_key){ root.key.first + 1, root.key.second }, "1");
	_cleanup_error_ struct imp_error *err = stack_queue_flush(&queue, &tally);
	CHECK(err && imp_error_code(err) == IMP_ERR_SYSTEM);
	CHECK_UINT(tally.nodes.count, 1);
	stack_queue_fini(&queue);
}
