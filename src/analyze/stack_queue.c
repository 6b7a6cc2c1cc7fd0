// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Taking stacks into a tally, several at a time.
#include "analyze/stack_queue.h"

void stack_queue_fini(struct stack_queue *queue)
{
	array_fini(&queue->steps);
	queue->count = 0;
}

void stack_queue_begin(struct stack_queue *queue, const struct stack_key *above)
{
	queue->stacks[queue->count] =
		(struct queued_stack){ .above = *above, .first = queue->steps.count };
}

struct imp_error *stack_queue_step(struct stack_queue *queue, const struct spot *spot,
				   struct stack_key *key)
{
	struct stack_step *step = array_add(&queue->steps);
	if (!step)
		return &imp_error_no_memory;
	*key = stack_key_below(key, spot);
	*step = (struct stack_step){ *key, *spot };
	return NULL;
}

static const struct stack_step *last_step(const struct stack_queue *queue,
					  const struct queued_stack *stack)
{
	return &queue->steps.items[stack->first + stack->count - 1];
}

struct imp_error *stack_queue_end(struct stack_queue *queue, struct tally *tally, uint64_t weight)
{
	struct queued_stack *stack = &queue->stacks[queue->count++];
	stack->count = queue->steps.count - stack->first;
	stack->weight = weight;
	tally_prefetch(tally, &last_step(queue, stack)->key);
	return queue->count == STACK_QUEUE_ROOM ? stack_queue_flush(queue, tally) : NULL;
}

// Adds what is missing of STACK, and gives its last node. Most have all: only then is more than
// the last step looked for.
static struct imp_error *take(struct stack_queue *queue, const struct queued_stack *stack,
			      struct tally *tally, uint32_t *ret)
{
	const struct stack_step *steps = &queue->steps.items[stack->first];
	size_t known = stack->count;
	uint32_t node = tally_find(tally, &steps[known - 1].key);
	while (node == NO_NUMBER && --known > 0)
		node = tally_find(tally, &steps[known - 1].key);
	if (node == NO_NUMBER)
		node = tally_find(tally, &stack->above);
	if (node == NO_NUMBER)
		return error_new(IMP_ERR_SYSTEM, "a stack whose callers nobody knows");
	for (size_t i = known; i < stack->count; i++) {
		struct imp_error *err =
			tally_add_call(tally, node, &steps[i].spot, &steps[i].key, &node);
		if (err)
			return err;
	}
	*ret = node;
	return NULL;
}

struct imp_error *stack_queue_flush(struct stack_queue *queue, struct tally *tally)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < queue->count; i++)
		tally_prefetch_node(tally, &last_step(queue, &queue->stacks[i])->key);
	for (size_t i = 0; i < queue->count && !err; i++) {
		uint32_t node;
		err = take(queue, &queue->stacks[i], tally, &node);
		if (!err)
			tally_add(tally, node, 1, queue->stacks[i].weight);
	}
	queue->count = 0;
	queue->steps.count = 0;
	return err;
}
