// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Address spaces through time: each owner (a process, a kernel) has one after the other.
#include "timeline/spaces.h"

#include <stdlib.h>

#include "base/hash.h"

void spaces_fini(struct spaces *spaces)
{
	for (size_t i = 0; i < spaces->all.count; i++)
		free(spaces->all.items[i].history);
	ranges_fini(&spaces->ranges);
	array_fini(&spaces->all);
	array_fini(&spaces->owners);
	array_fini(&spaces->begins);
	table_fini(&spaces->by_key);
	free(spaces->order);
	*spaces = (struct spaces){ 0 };
}

static uint64_t key_hash(enum side side, uint32_t pid)
{
	return hash_mix((uint64_t)side + 1, pid);
}

static bool find_number(const struct spaces *spaces, enum side side, uint32_t pid, uint32_t *ret)
{
	struct table_probe probe = table_probe(&spaces->by_key, key_hash(side, pid));
	while (table_next(&spaces->by_key, &probe, ret)) {
		const struct owner *owner = &spaces->owners.items[*ret];
		if (owner->pid == pid && owner->side == side)
			return true;
	}
	return false;
}

const struct owner *spaces_find_owner(const struct spaces *spaces, enum side side, uint32_t pid)
{
	uint32_t number;
	return find_number(spaces, side, pid, &number) ? &spaces->owners.items[number] : NULL;
}

struct imp_error *spaces_owner(struct spaces *spaces, enum side side, uint32_t pid, uint32_t *ret)
{
	if (find_number(spaces, side, pid, ret))
		return NULL;
	if (spaces->owners.count >= UINT32_MAX - 1)
		return &imp_error_no_memory;
	struct owner *owner = array_add(&spaces->owners);
	if (!owner)
		return &imp_error_no_memory;
	uint32_t number = (uint32_t)spaces->owners.count - 1;
	*owner = (struct owner){ .pid = pid, .side = side, .space = NO_SPACE };
	if (!table_insert(&spaces->by_key, key_hash(side, pid), number))
		return &imp_error_no_memory;
	*ret = number;
	return NULL;
}

static struct imp_error *begin_with(struct spaces *spaces, uint32_t owner, uint64_t time,
				    uint32_t root)
{
	if (spaces->all.count >= NO_SPACE)
		return &imp_error_no_memory;
	struct space *space = array_add(&spaces->all);
	if (!space)
		return &imp_error_no_memory;
	space->from = time;
	space->root = root;
	space->frozen = ranges_mark(&spaces->ranges);
	space->owner = owner;
	struct owner *of = &spaces->owners.items[owner];
	space->previous = of->space;
	if (of->space == NO_SPACE)
		of->born = time;
	of->space = (uint32_t)spaces->all.count - 1;
	return NULL;
}

struct imp_error *spaces_begin(struct spaces *spaces, uint32_t owner, uint64_t time)
{
	return begin_with(spaces, owner, time, NO_RANGE);
}

// The newest tree of OWNER, from now on shared.
static uint32_t share_root(struct spaces *spaces, uint32_t owner)
{
	uint32_t number = spaces->owners.items[owner].space;
	if (number == NO_SPACE)
		return NO_RANGE;
	struct space *space = &spaces->all.items[number];
	space->frozen = ranges_mark(&spaces->ranges);
	return space->root;
}

struct imp_error *spaces_fork(struct spaces *spaces, uint32_t owner, uint32_t parent, uint64_t time)
{
	return begin_with(spaces, owner, time, share_root(spaces, parent));
}

struct imp_error *spaces_fork_under(struct spaces *spaces, uint32_t owner, uint32_t parent,
				    uint64_t time)
{
	uint32_t own = share_root(spaces, owner);
	uint32_t root = share_root(spaces, parent);
	uint32_t frozen = ranges_mark(&spaces->ranges);
	const struct range *next = ranges_at_or_after(&spaces->ranges, own, 0);
	while (next) {
		struct range range = *next;
		struct imp_error *err = ranges_insert(&spaces->ranges, frozen, &root, &range);
		if (err)
			return err;
		next = ranges_at_or_after(&spaces->ranges, own, range.end);
	}
	return begin_with(spaces, owner, time, root);
}

static bool overlaps(const struct spaces *spaces, const struct space *space, uint64_t start,
		     uint64_t end)
{
	const struct range *next = ranges_at_or_after(&spaces->ranges, space->root, start);
	return next && next->start < end;
}

static struct imp_error *add_version(struct space *space, uint64_t from)
{
	struct space_history *history = space->history;
	size_t room = history ? history->room : 0;
	size_t count = history ? history->count : 0;
	if (count == room) {
		room = room ? room * 2 : 2;
		history = realloc(history, sizeof *history + room * sizeof *history->versions);
		if (!history)
			return &imp_error_no_memory;
		history->room = room;
		history->count = count;
		space->history = history;
	}
	history->versions[history->count++] = (struct space_version){ from, space->root };
	return NULL;
}

// Makes the newest version one that begins at TIME, unless it does already.
static struct imp_error *begin_version(struct spaces *spaces, struct space *space, uint64_t time)
{
	uint64_t newest = space->from;
	if (space->history)
		newest = space->history->versions[space->history->count - 1].from;
	if (newest >= time)
		return NULL;
	struct imp_error *err = space->history ? NULL : add_version(space, space->from);
	if (!err)
		err = add_version(space, time);
	if (!err)
		space->frozen = ranges_mark(&spaces->ranges);
	return err;
}

// After a change of the newest version's tree.
static void keep_root(struct space *space)
{
	if (space->history)
		space->history->versions[space->history->count - 1].root = space->root;
}

struct imp_error *spaces_map(struct spaces *spaces, uint32_t owner, uint64_t time,
			     const struct range *range)
{
	struct imp_error *err = NULL;
	if (spaces->owners.items[owner].space == NO_SPACE)
		err = spaces_begin(spaces, owner, time);
	if (err)
		return err;
	struct space *space = &spaces->all.items[spaces->owners.items[owner].space];
	if (overlaps(spaces, space, range->start, range->end))
		err = begin_version(spaces, space, time);
	if (err)
		return err;
	struct range wanted = *range;
	uint64_t *begin = array_add(&spaces->begins);
	if (!begin || spaces->begins.count >= NO_VALUE)
		return &imp_error_no_memory;
	*begin = time;
	wanted.value = (uint32_t)spaces->begins.count - 1;
	err = ranges_insert(&spaces->ranges, space->frozen, &space->root, &wanted);
	keep_root(space);
	return err;
}

struct imp_error *spaces_unmap(struct spaces *spaces, uint32_t owner, uint64_t time, uint64_t start,
			       uint64_t end)
{
	uint32_t number = spaces->owners.items[owner].space;
	if (number == NO_SPACE || !overlaps(spaces, &spaces->all.items[number], start, end))
		return NULL;
	struct space *space = &spaces->all.items[number];
	struct imp_error *err = begin_version(spaces, space, time);
	if (err)
		return err;
	err = ranges_remove(&spaces->ranges, space->frozen, &space->root, start, end);
	keep_root(space);
	return err;
}

struct imp_error *spaces_order(struct spaces *spaces)
{
	spaces->order = malloc(spaces->all.count * sizeof *spaces->order + 1);
	if (!spaces->order)
		return &imp_error_no_memory;
	for (size_t i = 0; i < spaces->all.count; i++)
		spaces->owners.items[spaces->all.items[i].owner].count++;
	uint32_t first = 0;
	for (size_t i = 0; i < spaces->owners.count; i++) {
		struct owner *owner = &spaces->owners.items[i];
		owner->first = first;
		first += owner->count;
		owner->count = 0;
	}
	for (size_t i = 0; i < spaces->all.count; i++) {
		struct owner *owner = &spaces->owners.items[spaces->all.items[i].owner];
		spaces->order[owner->first + owner->count++] = (uint32_t)i;
	}
	return NULL;
}

// As space_at(), going back from the newest space.
static const struct space *newest_space_at(const struct spaces *spaces, const struct owner *owner,
					   uint64_t time, struct space_stretch *stretch)
{
	const struct space *space = &spaces->all.items[owner->space];
	while (space->from > time && space->previous != NO_SPACE) {
		stretch->to = space->from;
		space = &spaces->all.items[space->previous];
	}
	stretch->from = space->previous == NO_SPACE ? 0 : space->from;
	return space;
}

// The last of OWNER's spaces that began by TIME, or the first of all; and until when it lasts.
static const struct space *space_at(const struct spaces *spaces, const struct owner *owner,
				    uint64_t time, struct space_stretch *stretch)
{
	if (!spaces->order)
		return newest_space_at(spaces, owner, time, stretch);
	uint32_t low = 0;
	uint32_t high = owner->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (spaces->all.items[spaces->order[owner->first + middle]].from <= time)
			low = middle;
		else
			high = middle;
	}
	const struct space *space = &spaces->all.items[spaces->order[owner->first + low]];
	stretch->from = low ? space->from : 0;
	if (low + 1 < owner->count)
		stretch->to = spaces->all.items[spaces->order[owner->first + low + 1]].from;
	return space;
}

static uint32_t root_at(const struct space *space, uint64_t time, struct space_stretch *stretch)
{
	const struct space_history *history = space->history;
	if (!history)
		return space->root;
	size_t low = 0;
	size_t high = history->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (history->versions[middle].from <= time)
			low = middle;
		else
			high = middle;
	}
	if (low && history->versions[low].from > stretch->from)
		stretch->from = history->versions[low].from;
	if (low + 1 < history->count && history->versions[low + 1].from < stretch->to)
		stretch->to = history->versions[low + 1].from;
	return history->versions[low].root;
}

struct space_stretch spaces_find(const struct spaces *spaces, const struct owner *owner,
				 uint64_t time, uint64_t address)
{
	struct space_stretch stretch = { 0, UINT64_MAX, 0, UINT64_MAX, NO_SPACE, NO_VALUE, true };
	if (!owner || owner->space == NO_SPACE)
		return stretch;
	const struct space *space = space_at(spaces, owner, time, &stretch);
	stretch.space = (uint32_t)(space - spaces->all.items);
	uint32_t at = root_at(space, time, &stretch);
	stretch.is_empty = at == NO_RANGE;
	while (at != NO_RANGE) {
		const struct range *node = &spaces->ranges.nodes.items[at];
		if (address < node->start) {
			stretch.end = node->start;
			at = node->left;
		} else if (address >= node->end) {
			stretch.start = node->end;
			at = node->right;
		} else {
			break;
		}
	}
	if (at == NO_RANGE)
		return stretch;
	const struct range *node = &spaces->ranges.nodes.items[at];
	uint64_t begin = spaces->begins.items[node->value];
	stretch.start = node->start;
	stretch.end = node->end;
	if (begin > time) {
		if (begin < stretch.to)
			stretch.to = begin;
		return stretch;
	}
	if (begin > stretch.from)
		stretch.from = begin;
	stretch.value = node->value;
	return stretch;
}
