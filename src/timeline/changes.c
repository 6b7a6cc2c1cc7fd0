// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What numbers stood for through time: the names of threads, the paths of cgroups.
#include "timeline/changes.h"

#include <stdlib.h>

#include "base/hash.h"

void changes_fini(struct changes *changes)
{
	array_fini(&changes->all);
	array_fini(&changes->subjects);
	table_fini(&changes->by_key);
}

static struct change_subject *find_subject(const struct changes *changes, uint64_t key)
{
	struct table_probe probe = table_probe(&changes->by_key, hash_mix(1, key));
	uint32_t index;
	while (table_next(&changes->by_key, &probe, &index))
		if (changes->subjects.items[index].key == key)
			return &changes->subjects.items[index];
	return NULL;
}

static struct change_subject *add_subject(struct changes *changes, uint64_t key)
{
	if (changes->subjects.count >= UINT32_MAX - 1)
		return NULL;
	struct change_subject *subject = array_add(&changes->subjects);
	if (!subject)
		return NULL;
	subject->key = key;
	uint32_t index = (uint32_t)changes->subjects.count - 1;
	return table_insert(&changes->by_key, hash_mix(1, key), index) ? subject : NULL;
}

struct imp_error *changes_set(struct changes *changes, uint64_t key, uint64_t time, uint32_t value)
{
	struct change_subject *subject = find_subject(changes, key);
	if (subject && subject->value == value)
		return NULL;
	if (!subject)
		subject = add_subject(changes, key);
	struct change *change = subject ? array_add(&changes->all) : NULL;
	if (!change)
		return &imp_error_no_memory;
	*change = (struct change){ time, (uint32_t)(subject - changes->subjects.items), value };
	subject->value = value;
	return NULL;
}

struct imp_error *changes_inherit(struct changes *changes, uint64_t child, uint64_t parent,
				  uint64_t time)
{
	const struct change_subject *from = find_subject(changes, parent);
	return from ? changes_set(changes, child, time, from->value) : NULL;
}

struct imp_error *changes_finish(struct changes *changes)
{
	// A counting sort by subject, which keeps each one's changes in the order of time.
	size_t count = changes->all.count;
	struct change *sorted = malloc(count * sizeof *sorted + 1);
	if (!sorted)
		return &imp_error_no_memory;
	struct change_subject *subjects = changes->subjects.items;
	for (size_t i = 0; i < count; i++)
		subjects[changes->all.items[i].subject].end++;
	size_t end = 0;
	for (size_t i = 0; i < changes->subjects.count; i++) {
		size_t begin = end;
		end += subjects[i].end;
		subjects[i].end = begin;
	}
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes->all.items[i];
		sorted[subjects[change->subject].end++] = *change;
	}
	free(changes->all.items);
	changes->all.items = sorted;
	changes->all.room = count;
	return NULL;
}

uint32_t changes_find(const struct changes *changes, uint64_t key, uint64_t time)
{
	const struct change_subject *subject = find_subject(changes, key);
	if (!subject)
		return NOT_SET;
	const struct change *all = changes->all.items;
	size_t low = subject == changes->subjects.items ? 0 : subject[-1].end;
	size_t high = subject->end;
	if (low == high || all[low].time > time)
		return NOT_SET;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (all[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return all[low].value;
}
