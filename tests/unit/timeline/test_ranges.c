// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "timeline/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "harness/tap.h"

// "10-20:1 20-30:2", in order.
static const char *text_of(const struct ranges *ranges, uint32_t root)
{
	static struct buffer buffer;
	buffer.size = 0;
	const struct range *next = ranges_at_or_after(ranges, root, 0);
	for (; next; next = ranges_at_or_after(ranges, root, next->end))
		buffer_format(&buffer, "%s%llu-%llu:%u", buffer.size ? " " : "",
			      (unsigned long long)next->start, (unsigned long long)next->end,
			      next->value);
	buffer_append(&buffer, "", 1);
	return (const char *)buffer.bytes;
}

static void insert(struct ranges *ranges, uint32_t frozen, uint32_t *root, uint64_t start,
		   uint64_t end, uint32_t value)
{
	struct range range = { .start = start, .end = end, .value = value };
	CHECK_OK(ranges_insert(ranges, frozen, root, &range));
}

TEST(an_overlapping_range_cuts_splits_and_replaces)
{
	struct ranges ranges = { 0 };
	uint32_t root = NO_RANGE;
	insert(&ranges, 0, &root, 10, 20, 1);
	insert(&ranges, 0, &root, 20, 30, 2);
	insert(&ranges, 0, &root, 40, 50, 3);
	CHECK_TEXT(text_of(&ranges, root), "10-20:1 20-30:2 40-50:3");
	insert(&ranges, 0, &root, 15, 45, 4);
	CHECK_TEXT(text_of(&ranges, root), "10-15:1 15-45:4 45-50:3");
	insert(&ranges, 0, &root, 20, 25, 5);
	CHECK_TEXT(text_of(&ranges, root), "10-15:1 15-20:4 20-25:5 25-45:4 45-50:3");
	CHECK_OK(ranges_remove(&ranges, 0, &root, 12, 48));
	CHECK_TEXT(text_of(&ranges, root), "10-12:1 48-50:3");
	CHECK(ranges_find(&ranges, root, 12) == NULL);
	CHECK_UINT(ranges_find(&ranges, root, 11)->value, 1);
	ranges_fini(&ranges);
}

TEST(a_root_that_was_kept_shows_what_it_showed)
{
	struct ranges ranges = { 0 };
	uint32_t root = NO_RANGE;
	for (uint32_t i = 0; i < 100; i++)
		insert(&ranges, 0, &root, i * 10, i * 10 + 10, i);
	uint32_t kept = root;
	uint32_t frozen = ranges_mark(&ranges);
	insert(&ranges, frozen, &root, 105, 995, 1000);
	CHECK_OK(ranges_remove(&ranges, frozen, &root, 0, 100));
	CHECK_TEXT(text_of(&ranges, root), "100-105:10 105-995:1000 995-1000:99");
	for (uint32_t i = 0; i < 100; i++)
		CHECK_UINT(ranges_find(&ranges, kept, i * 10 + 5)->value, i);
	ranges_fini(&ranges);
}

// A tree's depth, found by walking it.
static uint32_t depth_of(const struct ranges *ranges, uint32_t root)
{
	if (root == NO_RANGE)
		return 0;
	uint32_t left = depth_of(ranges, ranges->nodes.items[root].left);
	uint32_t right = depth_of(ranges, ranges->nodes.items[root].right);
	return 1 + (left > right ? left : right);
}

TEST(ascending_descending_and_mixed_orders_give_flat_trees)
{
	enum { COUNT = 20000 };
	for (unsigned order = 0; order < 3; order++) {
		struct ranges ranges = { 0 };
		uint32_t root = NO_RANGE;
		for (uint64_t i = 0; i < COUNT; i++) {
			uint64_t start = order == 0 ? i : order == 1 ? COUNT - i : i * 7919 % COUNT;
			insert(&ranges, 0, &root, start * 4, start * 4 + 4, 1);
		}
		// 1.45 * log2(20000)
		CHECK(depth_of(&ranges, root) <= 20);
		CHECK(ranges.nodes.count <= COUNT + 1);
		ranges_fini(&ranges);
	}
}

// Many changes at random, each state compared with a plain array of one value an address, which is
// also kept for every tenth state.
TEST(agrees_with_an_array_of_addresses_in_every_state)
{
	enum { SPAN = 300, CHANGES = 600, STATES = CHANGES / 10 };
	static uint32_t states[STATES][SPAN];
	static uint32_t roots[STATES];
	uint32_t now[SPAN] = { 0 };
	struct ranges ranges = { 0 };
	uint32_t root = NO_RANGE;
	uint32_t frozen = 0;
	srand(1);
	for (uint32_t i = 0; i < CHANGES; i++) {
		uint64_t start = (uint64_t)rand() % (SPAN - 1);
		uint64_t end = start + 1 + (uint64_t)rand() % (SPAN - start - 1) / (i % 7 + 1);
		bool is_removal = i % 5 == 4;
		if (is_removal)
			CHECK_OK(ranges_remove(&ranges, frozen, &root, start, end));
		else
			insert(&ranges, frozen, &root, start, end, i + 1);
		for (uint64_t at = start; at < end; at++)
			now[at] = is_removal ? 0 : i + 1;
		if (i % 10 == 0) {
			memcpy(states[i / 10], now, sizeof now);
			roots[i / 10] = root;
			frozen = ranges_mark(&ranges);
		}
	}
	for (size_t state = 0; state < STATES; state++) {
		for (uint64_t at = 0; at < SPAN; at++) {
			const struct range *range = ranges_find(&ranges, roots[state], at);
			CHECK_UINT(range ? range->value : 0, states[state][at]);
		}
		CHECK(depth_of(&ranges, roots[state]) <= 13);
	}
	ranges_fini(&ranges);
}

TEST(changes_that_overlap_cost_the_logarithm_each)
{
	enum { COUNT = 50000 };
	struct ranges ranges = { 0 };
	uint32_t root = NO_RANGE;
	for (uint64_t i = 0; i < COUNT; i++)
		insert(&ranges, ranges_mark(&ranges), &root, i * 7919 % COUNT * 16,
		       i * 7919 % COUNT * 16 + 24, 1);
	// Copies of a path and what is cut, a change: not of all that there is.
	CHECK(ranges.nodes.count < (size_t)COUNT * 48);
	ranges_fini(&ranges);
}
