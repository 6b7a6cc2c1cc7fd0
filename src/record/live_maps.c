// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sorted arrays of mappings, shared by forks until written to.
#include "record/live_maps.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_KEPT = 3 };

static void space_release(struct live_space *space)
{
	if (!space || --space->owners)
		return;
	array_fini(&space->mappings);
	free(space);
}

void live_maps_fini(struct live_maps *maps)
{
	for (size_t i = 0; i < LIVE_MAP_BUCKETS; i++) {
		for (struct live_process *process = maps->buckets[i]; process;) {
			struct live_process *next = process->next;
			space_release(process->space);
			space_release(process->left);
			free(process);
			process = next;
		}
		maps->buckets[i] = NULL;
	}
}

static struct live_process *find(const struct live_maps *maps, uint32_t pid)
{
	struct live_process *process = maps->buckets[pid % LIVE_MAP_BUCKETS];
	while (process && process->pid != pid)
		process = process->next;
	return process;
}

static struct live_process *find_or_add(struct live_maps *maps, uint32_t pid)
{
	struct live_process *process = find(maps, pid);
	if (process)
		return process;
	process = calloc(1, sizeof *process);
	if (!process)
		return NULL;
	struct live_process **bucket = &maps->buckets[pid % LIVE_MAP_BUCKETS];
	*process = (struct live_process){ .pid = pid, .next = *bucket };
	*bucket = process;
	return process;
}

static void revive(struct live_maps *maps, struct live_process *process)
{
	maps->ended_count -= process->ended != 0;
	process->ended = 0;
}

// Gives PROCESS a space that is its own alone.
static bool own_space(struct live_process *process)
{
	struct live_space *old = process->space;
	if (old && old->owners == 1)
		return true;
	struct live_space *space = calloc(1, sizeof *space);
	if (!space)
		return false;
	space->owners = 1;
	if (old && old->mappings.count) {
		if (!array_reserve(&space->mappings, old->mappings.count + 1)) {
			free(space);
			return false;
		}
		memcpy(space->mappings.items, old->mappings.items,
		       old->mappings.count * sizeof *old->mappings.items);
		space->mappings.count = old->mappings.count;
	}
	space_release(old);
	process->space = space;
	return true;
}

// The first mapping that ends behind ADDRESS.
static size_t position(const struct live_space *space, uint64_t address)
{
	size_t low = 0, high = space->mappings.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (space->mappings.items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Replaces the mappings from FIRST to LAST by the COUNT in PARTS; room for them was made.
static void replace(struct live_space *space, size_t first, size_t last,
		    const struct live_mapping *parts, size_t count)
{
	struct live_mapping *items = space->mappings.items;
	memmove(items + first + count, items + last,
		(space->mappings.count - last) * sizeof *items);
	memcpy(items + first, parts, count * sizeof *items);
	space->mappings.count += count - (last - first);
}

// Remembers what is about to be replaced from FIRST to LAST.
static void remember(const struct live_maps *maps, struct live_process *process, size_t first,
		     size_t last, uint32_t by_image)
{
	for (size_t i = first; i < last; i++) {
		const struct live_mapping *old = &process->space->mappings.items[i];
		if (old->image != NO_LIVE_IMAGE && old->image != by_image)
			process->gone[process->gone_next++ % GONE_MOST] =
				(struct gone_mapping){ *old, maps->round };
	}
}

bool live_maps_map(struct live_maps *maps, uint32_t pid, const struct live_mapping *mapping)
{
	struct live_process *process = find_or_add(maps, pid);
	if (!process || mapping->end <= mapping->start || !own_space(process) ||
	    !array_reserve(&process->space->mappings, 2))
		return false;
	revive(maps, process);
	struct live_space *space = process->space;
	struct live_mapping parts[3];
	size_t count = 0, first = position(space, mapping->start), last = first;
	while (last < space->mappings.count && space->mappings.items[last].start < mapping->end)
		last++;
	remember(maps, process, first, last, mapping->image);
	if (last > first && space->mappings.items[first].start < mapping->start) {
		parts[count] = space->mappings.items[first];
		parts[count++].end = mapping->start;
	}
	parts[count++] = *mapping;
	if (last > first && space->mappings.items[last - 1].end > mapping->end) {
		parts[count] = space->mappings.items[last - 1];
		parts[count].offset += mapping->end - parts[count].start;
		parts[count++].start = mapping->end;
	}
	replace(space, first, last, parts, count);
	return true;
}

bool live_maps_fork(struct live_maps *maps, uint32_t parent, uint32_t child)
{
	struct live_process *process = find_or_add(maps, child);
	if (!process)
		return false;
	// A child that has mapped something already was told of before its fork.
	if (process->space && !process->ended)
		return true;
	revive(maps, process);
	space_release(process->space);
	const struct live_process *from = find(maps, parent);
	process->space = from ? from->space : NULL;
	if (process->space)
		process->space->owners++;
	return true;
}

bool live_maps_exec(struct live_maps *maps, uint32_t pid)
{
	struct live_process *process = find_or_add(maps, pid);
	if (!process)
		return false;
	revive(maps, process);
	space_release(process->left);
	process->left = process->space;
	process->left_round = maps->round;
	process->space = NULL;
	return true;
}

void live_maps_exit(struct live_maps *maps, uint32_t pid)
{
	struct live_process *process = find(maps, pid);
	if (!process || process->ended)
		return;
	process->ended = maps->round + 1;
	maps->ended_count++;
}

void live_maps_next_round(struct live_maps *maps)
{
	maps->round++;
	// Looking through all buckets is worth it only when there is something to gain.
	if (maps->ended_count < LIVE_MAP_BUCKETS / 16 || maps->round % ROUNDS_KEPT)
		return;
	for (size_t i = 0; i < LIVE_MAP_BUCKETS; i++) {
		for (struct live_process **at = &maps->buckets[i]; *at;) {
			struct live_process *process = *at;
			if (!process->ended || process->ended + ROUNDS_KEPT > maps->round) {
				at = &process->next;
				continue;
			}
			*at = process->next;
			space_release(process->space);
			space_release(process->left);
			free(process);
			maps->ended_count--;
		}
	}
}

const struct live_space *live_maps_of(const struct live_maps *maps, uint32_t pid)
{
	const struct live_process *process = find(maps, pid);
	return process ? process->space : NULL;
}

static const struct live_mapping *mapping_at(const struct live_space *space, uint64_t address)
{
	if (!space)
		return NULL;
	size_t at = position(space, address);
	if (at == space->mappings.count || space->mappings.items[at].start > address)
		return NULL;
	return &space->mappings.items[at];
}

const struct live_mapping *live_maps_at(const struct live_maps *maps, uint32_t pid,
					uint64_t address)
{
	return mapping_at(live_maps_of(maps, pid), address);
}

static bool is_late(const struct live_maps *maps, uint64_t round)
{
	return round + ROUNDS_KEPT < maps->round;
}

size_t live_maps_find_gone(const struct live_maps *maps, uint32_t pid, uint64_t address,
			   uint32_t *images, size_t room)
{
	const struct live_process *process = find(maps, pid);
	size_t count = 0;
	for (size_t i = 0; process && i < GONE_MOST && count < room; i++) {
		const struct gone_mapping *gone = &process->gone[i];
		if (address >= gone->mapping.start && address < gone->mapping.end &&
		    !is_late(maps, gone->round))
			images[count++] = gone->mapping.image;
	}
	const struct live_mapping *left = NULL;
	if (process && !is_late(maps, process->left_round))
		left = mapping_at(process->left, address);
	if (left && left->image != NO_LIVE_IMAGE && count < room)
		images[count++] = left->image;
	return count;
}

uint32_t live_maps_find(const struct live_maps *maps, uint32_t pid, uint64_t address)
{
	const struct live_mapping *mapping = live_maps_at(maps, pid, address);
	return mapping ? mapping->image : NO_LIVE_IMAGE;
}
