// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A sweep over the begins of intervals, with those that are open in a heap by owner.
#include "dwarf/intervals.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare_intervals(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

static bool is_sorted(const struct intervals *intervals)
{
	for (size_t i = 1; i < intervals->list.count; i++)
		if (compare_intervals(&intervals->list.items[i - 1], &intervals->list.items[i]) > 0)
			return false;
	return true;
}

// A binary heap, the highest owner first.
struct heap {
	ARRAY_OF(struct interval) list;
};

static bool heap_push(struct heap *heap, const struct interval *interval)
{
	if (!array_add(&heap->list))
		return false;
	struct interval *items = heap->list.items;
	size_t at = heap->list.count - 1;
	for (; at && items[(at - 1) / 2].owner < interval->owner; at = (at - 1) / 2)
		items[at] = items[(at - 1) / 2];
	items[at] = *interval;
	return true;
}

static void heap_pop(struct heap *heap)
{
	struct interval *items = heap->list.items;
	size_t count = --heap->list.count;
	struct interval last = items[count];
	size_t at = 0;
	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && items[child + 1].owner > items[child].owner)
			child++;
		if (items[child].owner <= last.owner)
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = last;
}

static bool put_boundary(struct boundaries *ret, size_t first, uint64_t begin, uint32_t owner)
{
	uint32_t before = ret->list.count > first ? ret->list.items[ret->list.count - 1].owner
						  : NO_OWNER;
	if (before == owner)
		return true;
	struct boundary *added = array_add(&ret->list);
	if (added)
		*added = (struct boundary){ .begin = begin, .owner = owner };
	return added;
}

static bool sweep(const struct intervals *intervals, struct heap *open, struct boundaries *ret)
{
	const struct interval *next = intervals->list.items;
	const struct interval *end = next + intervals->list.count;
	size_t first = ret->list.count;
	while (next < end || open->list.count) {
		uint64_t at = next < end ? next->begin : UINT64_MAX;
		if (open->list.count && open->list.items[0].end < at)
			at = open->list.items[0].end;
		for (; next < end && next->begin == at; next++)
			if (next->end > next->begin && !heap_push(open, next))
				return false;
		while (open->list.count && open->list.items[0].end <= at)
			heap_pop(open);
		uint32_t owner = open->list.count ? open->list.items[0].owner : NO_OWNER;
		if (!put_boundary(ret, first, at, owner))
			return false;
	}
	return true;
}

struct imp_error *intervals_partition(struct intervals *intervals, struct boundaries *ret)
{
	if (!is_sorted(intervals))
		qsort(intervals->list.items, intervals->list.count, sizeof *intervals->list.items,
		      compare_intervals);
	struct heap open = { 0 };
	bool is_done = sweep(intervals, &open, ret);
	array_fini(&open.list);
	return is_done ? NULL : &imp_error_no_memory;
}

uint32_t boundaries_owner(const struct boundaries *boundaries, uint64_t address)
{
	size_t low = 0, high = boundaries->list.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (boundaries->list.items[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? boundaries->list.items[low - 1].owner : NO_OWNER;
}
