// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The command names of threads through time.
#include "timeline/comms.h"

#include <stdlib.h>

#include "base/hash.h"

void comms_fini(struct comms *comms)
{
	strings_fini(&comms->names);
	array_fini(&comms->changes);
	array_fini(&comms->threads);
	table_fini(&comms->by_tid);
}

static struct comm_thread *find_thread(const struct comms *comms, uint32_t tid)
{
	struct table_probe probe = table_probe(&comms->by_tid, hash_mix(1, tid));
	uint32_t index;
	while (table_next(&comms->by_tid, &probe, &index))
		if (comms->threads.items[index].tid == tid)
			return &comms->threads.items[index];
	return NULL;
}

static struct comm_thread *add_thread(struct comms *comms, uint32_t tid)
{
	if (comms->threads.count >= UINT32_MAX - 1)
		return NULL;
	struct comm_thread *thread = array_add(&comms->threads);
	if (!thread)
		return NULL;
	thread->tid = tid;
	uint32_t index = (uint32_t)comms->threads.count - 1;
	return table_insert(&comms->by_tid, hash_mix(1, tid), index) ? thread : NULL;
}

struct imp_error *comms_set(struct comms *comms, uint32_t tid, uint64_t time, uint32_t name)
{
	struct comm_thread *thread = find_thread(comms, tid);
	if (thread && thread->name == name)
		return NULL;
	if (!thread)
		thread = add_thread(comms, tid);
	struct comm_change *change = thread ? array_add(&comms->changes) : NULL;
	if (!change)
		return &imp_error_no_memory;
	*change = (struct comm_change){ time, tid, name };
	thread->name = name;
	return NULL;
}

struct imp_error *comms_inherit(struct comms *comms, uint32_t child, uint32_t parent, uint64_t time)
{
	const struct comm_thread *from = find_thread(comms, parent);
	return from ? comms_set(comms, child, time, from->name) : NULL;
}

struct imp_error *comms_finish(struct comms *comms)
{
	// A counting sort by thread, which keeps each thread's changes in the order of time.
	size_t count = comms->changes.count;
	struct comm_change *sorted = malloc(count * sizeof *sorted + 1);
	if (!sorted)
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++)
		find_thread(comms, comms->changes.items[i].tid)->end++;
	size_t end = 0;
	for (size_t i = 0; i < comms->threads.count; i++) {
		size_t begin = end;
		end += comms->threads.items[i].end;
		comms->threads.items[i].end = begin;
	}
	for (size_t i = 0; i < count; i++) {
		const struct comm_change *change = &comms->changes.items[i];
		sorted[find_thread(comms, change->tid)->end++] = *change;
	}
	free(comms->changes.items);
	comms->changes.items = sorted;
	comms->changes.room = count;
	return NULL;
}

const char *comms_find(const struct comms *comms, uint32_t tid, uint64_t time)
{
	const struct comm_thread *thread = find_thread(comms, tid);
	if (!thread)
		return NULL;
	size_t low = thread == comms->threads.items ? 0 : thread[-1].end;
	size_t high = thread->end;
	if (low == high || comms->changes.items[low].time > time)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (comms->changes.items[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return strings_at(&comms->names, comms->changes.items[low].name);
}
