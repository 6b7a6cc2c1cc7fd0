// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking for what else was mapped under one path.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/evidence.h"

struct builds_search {
	const struct survey *survey;
	const struct image *image;
	pthread_mutex_t lock;
	struct other_builds *ret;
};

void other_builds_fini(struct other_builds *builds)
{
	for (size_t i = 0; i < builds->count; i++)
		mapping_record_fini(&builds->items[i]);
	array_fini(builds);
}

static int compare_mappings(const void *left, const void *right)
{
	const struct mapping_record *a = left, *b = right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->record_offset > b->record_offset) - (a->record_offset < b->record_offset);
}

// Keeps FOUND, of FOUND_PATH, unless an earlier record of its build is known. Called under the
// lock.
static bool keep_first(struct other_builds *builds, const struct mapping_record *found,
		       const char *found_path)
{
	struct mapping_record *slot = NULL;
	for (size_t i = 0; i < builds->count && !slot; i++)
		if (build_id_equal(&builds->items[i].id, &found->id))
			slot = &builds->items[i];
	if (slot && compare_mappings(found, slot) > 0)
		return true;
	char *path = slot ? slot->path : strdup(found_path);
	if (!slot && path)
		slot = array_add(builds);
	if (!slot) {
		free(path);
		return false;
	}
	*slot = *found;
	slot->path = path;
	return true;
}

static struct imp_error *look_at_record(struct builds_search *search, const struct record *record)
{
	struct mmap_record mapped;
	struct sample_id id = { 0 };
	struct imp_error *err = mmap_record_read(record, &mapped);
	if (err) {
		imp_error_free(err);
		return NULL;
	}
	if (!mapped.id.size || strcmp(mapped.path, search->image->path) != 0 ||
	    build_id_equal(&mapped.id, &search->image->id))
		return NULL;
	sample_id_read(search->survey->events, record, &id);
	struct mapping_record found = mapping_record_of(record, &mapped, &id);
	pthread_mutex_lock(&search->lock);
	bool was_kept = keep_first(search->ret, &found, mapped.path);
	pthread_mutex_unlock(&search->lock);
	return was_kept ? NULL : &imp_error_no_memory;
}

static struct imp_error *search_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct record record;
	struct imp_error *err = NULL;
	(void)worker;
	while (!err && chunk_next(chunk, &record))
		if (record.type == RECORD_MMAP2)
			err = look_at_record(arg, &record);
	return err;
}

struct imp_error *evidence_other_builds(struct recording *recording, const struct survey *survey,
					const struct image *image, struct other_builds *ret)
{
	struct builds_search search = { .survey = survey, .image = image, .ret = ret };
	if (image->kind != IMAGE_USER || !image->path || !image->id.size)
		return NULL;
	pthread_mutex_init(&search.lock, NULL);
	struct imp_error *err = recording_visit(recording, search_chunk, &search);
	pthread_mutex_destroy(&search.lock);
	if (!err && ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_mappings);
	return err;
}
