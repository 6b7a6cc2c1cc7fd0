// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Disjoint address ranges in a balanced tree whose earlier states stay readable.
//
// An AVL tree of which everything is made by two operations, join and split (G. Blelloch, D.
// Ferizovic, Y. Sun: Just Join for Parallel Ordered Sets, 2016). Recursion is as deep as the tree
// is high: less than 1.45 times the logarithm of the number of nodes, 47 at most.
#include "timeline/ranges.h"

#include <stdlib.h>

// More nodes than one change can make: two splits and a join, each along one path, with rotations.
enum { MOST_NEW_NODES = 512 };

struct change {
	struct range *nodes;
	size_t *count;
	uint32_t frozen;
};

void ranges_fini(struct ranges *ranges)
{
	array_fini(&ranges->nodes);
}

uint32_t ranges_mark(const struct ranges *ranges)
{
	return ranges->nodes.count ? (uint32_t)ranges->nodes.count : 1;
}

static uint32_t height(const struct change *change, uint32_t node)
{
	return node == NO_RANGE ? 0 : change->nodes[node].height;
}

static uint32_t add_node(const struct change *change, const struct range *range)
{
	uint32_t node = (uint32_t)(*change->count)++;
	change->nodes[node] = *range;
	return node;
}

// NODE itself when it may be changed, or a copy of it.
static uint32_t writable(const struct change *change, uint32_t node)
{
	return node >= change->frozen ? node : add_node(change, &change->nodes[node]);
}

static uint32_t link_node(const struct change *change, uint32_t left, uint32_t node, uint32_t right)
{
	struct range *range = &change->nodes[node];
	uint32_t left_height = height(change, left);
	uint32_t right_height = height(change, right);
	range->left = left;
	range->right = right;
	range->height = 1 + (left_height > right_height ? left_height : right_height);
	return node;
}

static uint32_t rotate_left(const struct change *change, uint32_t node)
{
	uint32_t top = writable(change, change->nodes[node].right);
	const struct range *above = &change->nodes[top];
	uint32_t middle = above->left;
	uint32_t right = above->right;
	node = link_node(change, change->nodes[node].left, writable(change, node), middle);
	return link_node(change, node, top, right);
}

static uint32_t rotate_right(const struct change *change, uint32_t node)
{
	uint32_t top = writable(change, change->nodes[node].left);
	const struct range *above = &change->nodes[top];
	uint32_t middle = above->right;
	uint32_t left = above->left;
	node = link_node(change, middle, writable(change, node), change->nodes[node].right);
	return link_node(change, left, top, node);
}

// LEFT is higher than RIGHT by more than one: NODE goes down along LEFT's right side.
static uint32_t join_down_right(const struct change *change, uint32_t left, uint32_t node,
				uint32_t right)
{
	uint32_t top = writable(change, left);
	uint32_t outer = change->nodes[top].left;
	uint32_t inner = change->nodes[top].right;
	uint32_t joined;
	if (height(change, inner) <= height(change, right) + 1) {
		joined = link_node(change, inner, node, right);
		if (height(change, joined) > height(change, outer) + 1)
			joined = rotate_right(change, joined);
	} else {
		joined = join_down_right(change, inner, node, right);
	}
	top = link_node(change, outer, top, joined);
	return height(change, joined) > height(change, outer) + 1 ? rotate_left(change, top) : top;
}

static uint32_t join_down_left(const struct change *change, uint32_t left, uint32_t node,
			       uint32_t right)
{
	uint32_t top = writable(change, right);
	uint32_t outer = change->nodes[top].right;
	uint32_t inner = change->nodes[top].left;
	uint32_t joined;
	if (height(change, inner) <= height(change, left) + 1) {
		joined = link_node(change, left, node, inner);
		if (height(change, joined) > height(change, outer) + 1)
			joined = rotate_left(change, joined);
	} else {
		joined = join_down_left(change, left, node, inner);
	}
	top = link_node(change, joined, top, outer);
	return height(change, joined) > height(change, outer) + 1 ? rotate_right(change, top) : top;
}

// A tree of all of LEFT, NODE (which may be changed) and all of RIGHT.
static uint32_t join(const struct change *change, uint32_t left, uint32_t node, uint32_t right)
{
	if (height(change, left) > height(change, right) + 1)
		return join_down_right(change, left, node, right);
	if (height(change, right) > height(change, left) + 1)
		return join_down_left(change, left, node, right);
	return link_node(change, left, node, right);
}

// Splits the tree at ROOT into what lies before ADDRESS and what lies behind; a range that holds
// ADDRESS is cut in two.
static void split(const struct change *change, uint32_t root, uint64_t address, uint32_t *before,
		  uint32_t *behind)
{
	if (root == NO_RANGE) {
		*before = *behind = NO_RANGE;
		return;
	}
	struct range range = change->nodes[root];
	uint32_t part;
	if (range.end <= address) {
		split(change, range.right, address, &part, behind);
		*before = join(change, range.left, writable(change, root), part);
	} else if (range.start >= address) {
		split(change, range.left, address, before, &part);
		*behind = join(change, part, writable(change, root), range.right);
	} else {
		uint32_t first = writable(change, root);
		change->nodes[first].end = address;
		struct range second = range;
		second.start = address;
		*before = join(change, range.left, first, NO_RANGE);
		*behind = join(change, NO_RANGE, add_node(change, &second), range.right);
	}
}

// Joins two trees that have no node between them.
static uint32_t join_two(const struct change *change, uint32_t left, uint32_t right)
{
	if (left == NO_RANGE || right == NO_RANGE)
		return left == NO_RANGE ? right : left;
	uint32_t first = right;
	while (change->nodes[first].left != NO_RANGE)
		first = change->nodes[first].left;
	struct range between = change->nodes[first];
	uint32_t none;
	uint32_t rest;
	split(change, right, between.end, &none, &rest);
	return join(change, left, add_node(change, &between), rest);
}

static struct imp_error *change_begin(struct ranges *ranges, uint32_t frozen, struct change *ret)
{
	// Node 0 is never used: its number means "none".
	if (!ranges->nodes.count && !array_add(&ranges->nodes))
		return &imp_error_no_memory;
	if (ranges->nodes.count > UINT32_MAX - MOST_NEW_NODES ||
	    !array_reserve(&ranges->nodes, MOST_NEW_NODES))
		return &imp_error_no_memory;
	*ret = (struct change){ ranges->nodes.items, &ranges->nodes.count, frozen };
	return NULL;
}

struct imp_error *ranges_insert(struct ranges *ranges, uint32_t frozen, uint32_t *root,
				const struct range *added)
{
	struct change change;
	struct imp_error *err = change_begin(ranges, frozen, &change);
	if (err)
		return err;
	uint32_t before;
	uint32_t middle;
	uint32_t behind;
	split(&change, *root, added->start, &before, &middle);
	split(&change, middle, added->end, &middle, &behind);
	*root = join(&change, before, add_node(&change, added), behind);
	return NULL;
}

struct imp_error *ranges_remove(struct ranges *ranges, uint32_t frozen, uint32_t *root,
				uint64_t start, uint64_t end)
{
	struct change change;
	struct imp_error *err = change_begin(ranges, frozen, &change);
	if (err)
		return err;
	uint32_t before;
	uint32_t middle;
	uint32_t behind;
	split(&change, *root, start, &before, &middle);
	split(&change, middle, end, &middle, &behind);
	*root = join_two(&change, before, behind);
	return NULL;
}

const struct range *ranges_at_or_after(const struct ranges *ranges, uint32_t root, uint64_t address)
{
	const struct range *behind = NULL;
	while (root != NO_RANGE) {
		const struct range *node = &ranges->nodes.items[root];
		if (address >= node->end) {
			root = node->right;
			continue;
		}
		if (address >= node->start)
			return node;
		behind = node;
		root = node->left;
	}
	return behind;
}
