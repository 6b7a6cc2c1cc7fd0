// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking for single records, in passes of their own.
#include "analyze/evidence.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "perfdata/sample.h"

// The samples of one chunk, known by where its first record stands.
struct chunk_samples {
	uint64_t position;
	uint64_t count;
};

struct sample_search {
	const struct survey *survey;
	pthread_mutex_t lock;
	ARRAY_OF(struct chunk_samples) chunks;
	// In the second pass: the sample INDEX (from 0) of the chunk at POSITION.
	uint64_t position, index;
	struct moment *ret;
	bool found;
};

// The position of CHUNK's first record; false when it has none.
static bool first_position(const struct chunk *chunk, uint64_t *ret)
{
	struct chunk copy = *chunk;
	struct record record;
	if (!chunk_next(&copy, &record))
		return false;
	*ret = record.position;
	return true;
}

static struct imp_error *count_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct sample_search *search = arg;
	struct chunk_samples samples = { 0 };
	struct record record;
	(void)worker;
	bool has_records = first_position(chunk, &samples.position);
	while (chunk_next(chunk, &record))
		samples.count += record.type == RECORD_SAMPLE;
	if (!has_records || !samples.count)
		return NULL;
	pthread_mutex_lock(&search->lock);
	struct chunk_samples *slot = array_add(&search->chunks);
	if (slot)
		*slot = samples;
	pthread_mutex_unlock(&search->lock);
	return slot ? NULL : &imp_error_no_memory;
}

static struct imp_error *take_sample(const struct sample_search *search,
				     const struct record *record)
{
	struct sample sample;
	struct imp_error *err = sample_read(search->survey->events, record, &sample);
	if (err)
		return error_context(err, "sample at offset %llu",
				     (unsigned long long)record->offset);
	*search->ret = (struct moment){
		.record_offset = record->offset,
		.address = sample.ip,
		.time_ns = sample.time,
		.timeline_time = survey_time(search->survey, record, sample.time),
		.pid = sample.has_tid ? sample.pid : UINT32_MAX,
		.tid = sample.has_tid ? sample.tid : UINT32_MAX,
		.cpumode = sample.cpumode,
		.has_time = sample.has_time,
		.has_pid = sample.has_tid,
		.has_address = sample.has_ip,
	};
	return NULL;
}

static struct imp_error *find_in_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct sample_search *search = arg;
	struct record record;
	uint64_t position, index = 0;
	(void)worker;
	if (!first_position(chunk, &position) || position != search->position)
		return NULL;
	while (chunk_next(chunk, &record)) {
		if (record.type != RECORD_SAMPLE || index++ != search->index)
			continue;
		search->found = true;
		return take_sample(search, &record);
	}
	return NULL;
}

static int compare_chunks(const void *left, const void *right)
{
	const struct chunk_samples *a = left, *b = right;
	return (a->position > b->position) - (a->position < b->position);
}

// Turns NUMBER into a chunk and an index in it. False when there are fewer samples.
static bool choose_chunk(struct sample_search *search, uint64_t number, uint64_t *total)
{
	bool is_chosen = false;
	*total = 0;
	if (search->chunks.count)
		qsort(search->chunks.items, search->chunks.count, sizeof *search->chunks.items,
		      compare_chunks);
	for (size_t i = 0; i < search->chunks.count; i++) {
		const struct chunk_samples *chunk = &search->chunks.items[i];
		if (!is_chosen && number && number - *total <= chunk->count) {
			search->position = chunk->position;
			search->index = number - *total - 1;
			is_chosen = true;
		}
		*total += chunk->count;
	}
	return is_chosen;
}

struct imp_error *evidence_sample(struct recording *recording, const struct survey *survey,
				  uint64_t number, struct moment *ret, bool *found, uint64_t *count)
{
	struct sample_search search = { .survey = survey, .ret = ret };
	pthread_mutex_init(&search.lock, NULL);
	struct imp_error *err = recording_visit(recording, count_chunk, &search);
	if (!err && choose_chunk(&search, number, count))
		err = recording_visit(recording, find_in_chunk, &search);
	array_fini(&search.chunks);
	pthread_mutex_destroy(&search.lock);
	ret->number = number;
	*found = search.found;
	return err;
}

struct birth {
	uint32_t pid, parent;
	uint64_t time;
};

struct mapping_search {
	const struct survey *survey;
	const struct moment *moment;
	const struct stretch *stretch;
	pthread_mutex_t lock;
	// Records that may be the one.
	ARRAY_OF(struct mapping_record) mappings;
	ARRAY_OF(struct birth) births;
};

struct mapping_record mapping_record_of(const struct record *record,
					const struct mmap_record *mapped,
					const struct sample_id *id)
{
	return (struct mapping_record){ .record_offset = record->offset,
					.is_mmap2 = record->type == RECORD_MMAP2,
					.start = mapped->start,
					.length = mapped->length,
					.page_offset = mapped->page_offset,
					.pid = mapped->pid,
					.time_ns = id->has_time ? id->time : 0,
					.has_time = id->has_time,
					.protection = mapped->prot,
					.id = mapped->id,
					.major = mapped->major,
					.minor = mapped->minor,
					.inode = mapped->inode,
					.has_inode = mapped->has_inode };
}

void mapping_record_fini(struct mapping_record *mapping)
{
	free(mapping->path);
	mapping->path = NULL;
}

// When RECORD was written, on the timeline's scale.
static uint64_t time_of(const struct mapping_search *search, const struct record *record,
			struct sample_id *id)
{
	sample_id_read(search->survey->events, record, id);
	return survey_time(search->survey, record, id->has_time ? id->time : 0);
}

static bool is_kernel_side(const struct moment *moment)
{
	return moment->cpumode == MISC_KERNEL || moment->cpumode == MISC_GUEST_KERNEL ||
	       moment->cpumode == MISC_HYPERVISOR;
}

// MAPPED covers the address, and gives it the offset that the timeline does.
static bool fits(const struct mapping_search *search, const struct mmap_record *mapped)
{
	uint64_t address = search->moment->address;
	if (address < mapped->start || address - mapped->start >= mapped->length)
		return false;
	// The kernel's page offset is the address of its reference symbol, a module's base its
	// start.
	return is_kernel_side(search->moment) ||
	       mapped->start - mapped->page_offset == search->stretch->base ||
	       mapped->start == search->stretch->base;
}

static struct imp_error *take_mapping(struct mapping_search *search, const struct record *record)
{
	struct mmap_record mapped;
	struct sample_id id;
	struct imp_error *err = mmap_record_read(record, &mapped);
	if (err) {
		imp_error_free(err);
		return NULL;
	}
	uint64_t time = time_of(search, record, &id);
	if (!fits(search, &mapped) || time > search->moment->timeline_time)
		return NULL;
	char *path = strdup(mapped.path);
	pthread_mutex_lock(&search->lock);
	struct mapping_record *slot = path ? array_add(&search->mappings) : NULL;
	if (slot) {
		*slot = mapping_record_of(record, &mapped, &id);
		slot->path = path;
	}
	pthread_mutex_unlock(&search->lock);
	if (slot)
		return NULL;
	free(path);
	return &imp_error_no_memory;
}

static struct imp_error *take_birth(struct mapping_search *search, const struct record *record)
{
	struct task_record task;
	struct sample_id id;
	struct imp_error *err = task_record_read(record, &task);
	if (err) {
		imp_error_free(err);
		return NULL;
	}
	uint64_t time = time_of(search, record, &id);
	if (task.pid == task.parent_pid || time > search->moment->timeline_time)
		return NULL;
	pthread_mutex_lock(&search->lock);
	struct birth *slot = array_add(&search->births);
	if (slot)
		*slot = (struct birth){ task.pid, task.parent_pid, time };
	pthread_mutex_unlock(&search->lock);
	return slot ? NULL : &imp_error_no_memory;
}

static struct imp_error *search_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct mapping_search *search = arg;
	struct record record;
	struct imp_error *err = NULL;
	(void)worker;
	while (!err && chunk_next(chunk, &record)) {
		if (record.type == RECORD_MMAP || record.type == RECORD_MMAP2)
			err = take_mapping(search, &record);
		else if (record.type == RECORD_FORK && !is_kernel_side(search->moment))
			err = take_birth(search, &record);
	}
	return err;
}

// The latest of the mappings of PID, or NULL.
static struct mapping_record *latest_of(struct mapping_search *search, uint32_t pid)
{
	struct mapping_record *latest = NULL;
	for (size_t i = 0; i < search->mappings.count; i++) {
		struct mapping_record *mapping = &search->mappings.items[i];
		bool is_its = mapping->pid == pid || is_kernel_side(search->moment);
		if (is_its && (!latest || mapping->time_ns > latest->time_ns ||
			       (mapping->time_ns == latest->time_ns &&
				mapping->record_offset > latest->record_offset)))
			latest = mapping;
	}
	return latest;
}

// The mapping of the process itself, or of the nearest ancestor whose space it began with.
static struct mapping_record *choose_mapping(struct mapping_search *search)
{
	enum { GENERATIONS_MOST = 64 };
	uint32_t pid = search->moment->pid;
	for (unsigned i = 0; i < GENERATIONS_MOST; i++) {
		struct mapping_record *mapping = latest_of(search, pid);
		const struct birth *birth = NULL;
		for (size_t j = 0; j < search->births.count && !mapping; j++)
			if (search->births.items[j].pid == pid &&
			    (!birth || search->births.items[j].time >= birth->time))
				birth = &search->births.items[j];
		if (mapping || !birth)
			return mapping;
		pid = birth->parent;
	}
	return NULL;
}

struct imp_error *evidence_mapping(struct recording *recording, const struct survey *survey,
				   const struct moment *moment, const struct stretch *stretch,
				   struct mapping_record *ret, bool *found)
{
	struct mapping_search search = { .survey = survey, .moment = moment, .stretch = stretch };
	pthread_mutex_init(&search.lock, NULL);
	struct imp_error *err = recording_visit(recording, search_chunk, &search);
	struct mapping_record *chosen = err ? NULL : choose_mapping(&search);
	*found = chosen;
	if (chosen) {
		*ret = *chosen;
		chosen->path = NULL;
	}
	for (size_t i = 0; i < search.mappings.count; i++)
		mapping_record_fini(&search.mappings.items[i]);
	array_fini(&search.mappings);
	array_fini(&search.births);
	pthread_mutex_destroy(&search.lock);
	return err;
}
