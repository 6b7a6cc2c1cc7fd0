// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Counts chunk by chunk and adds the counts up.
#include "perfdata/contents.h"

#include "perfdata/sample.h"

struct counting {
	const struct events *events;
	struct contents *all;
};

static void add_row(struct contents_row *row, uint32_t type, uint64_t records, uint64_t bytes)
{
	row->type = type;
	row->records += records;
	row->bytes += bytes;
}

static struct contents_row *find_row(struct contents *contents, uint32_t type)
{
	if (type < CONTENTS_KNOWN_TYPES)
		return &contents->known[type];
	for (size_t i = 0; i < contents->other_count; i++)
		if (contents->other[i].type == type)
			return &contents->other[i];
	return contents->other_count < CONTENTS_OTHER_TYPES
		       ? &contents->other[contents->other_count++]
		       : &contents->rest;
}

static void count_sample(const struct events *events, const struct record *record,
			 struct contents *contents)
{
	struct sample sample;
	struct imp_error *err = sample_read(events, record, &sample);
	if (err) {
		contents->unreadable_samples++;
		imp_error_free(err);
		return;
	}
	contents->samples[sample.event - events->items]++;
	if (!sample.has_time)
		return;
	if (sample.time < contents->first_ns)
		contents->first_ns = sample.time;
	if (sample.time > contents->last_ns)
		contents->last_ns = sample.time;
}

static void count_lost(const struct record *record, struct contents *contents)
{
	struct lost_record lost;
	struct imp_error *err = lost_record_read(record, &lost);
	if (err)
		imp_error_free(err);
	else if (record->type == RECORD_LOST)
		contents->lost_records += lost.lost;
	else
		contents->lost_samples += lost.lost;
}

static struct contents *contents_new(const struct events *events)
{
	struct contents *contents = calloc(1, sizeof *contents);
	if (!contents)
		return NULL;
	contents->first_ns = UINT64_MAX;
	contents->samples = calloc(events->count + 1, sizeof *contents->samples);
	if (contents->samples)
		return contents;
	free(contents);
	return NULL;
}

static void contents_free(void *arg, void *result)
{
	(void)arg;
	struct contents *contents = result;
	contents_fini(contents);
	free(contents);
}

static struct imp_error *count_chunk(void *arg, struct chunk *chunk, void **result)
{
	const struct counting *counting = arg;
	struct contents *contents = contents_new(counting->events);
	if (!contents)
		return &imp_error_no_memory;
	*result = contents;
	struct record record;
	while (chunk_next(chunk, &record)) {
		add_row(find_row(contents, record.type), record.type, 1, record.size);
		if (record.type == RECORD_SAMPLE)
			count_sample(counting->events, &record, contents);
		else if (record.type == RECORD_LOST || record.type == RECORD_LOST_SAMPLES)
			count_lost(&record, contents);
		else if (record.type == RECORD_AUXTRACE) {
			struct cursor body = record_body(&record);
			contents->trace_bytes += cursor_u64(&body);
		}
	}
	return NULL;
}

static struct imp_error *add_counts(void *arg, void *result)
{
	const struct counting *counting = arg;
	struct contents *all = counting->all, *part = result;
	for (uint32_t type = 0; type < CONTENTS_KNOWN_TYPES; type++)
		add_row(&all->known[type], type, part->known[type].records,
			part->known[type].bytes);
	for (size_t i = 0; i < part->other_count; i++)
		add_row(find_row(all, part->other[i].type), part->other[i].type,
			part->other[i].records, part->other[i].bytes);
	add_row(&all->rest, part->rest.type, part->rest.records, part->rest.bytes);
	all->lost_records += part->lost_records;
	all->lost_samples += part->lost_samples;
	all->unreadable_samples += part->unreadable_samples;
	all->trace_bytes += part->trace_bytes;
	if (part->first_ns < all->first_ns)
		all->first_ns = part->first_ns;
	if (part->last_ns > all->last_ns)
		all->last_ns = part->last_ns;
	for (size_t i = 0; i < counting->events->count; i++)
		all->samples[i] += part->samples[i];
	contents_free(NULL, part);
	return NULL;
}

struct imp_error *contents_count(struct recording *recording, struct contents *ret)
{
	static const struct scan scan = { count_chunk, add_counts, contents_free };
	struct counting counting = { .events = recording_events(recording) };
	counting.all = contents_new(counting.events);
	if (!counting.all)
		return &imp_error_no_memory;
	struct imp_error *err = recording_scan(recording, &scan, &counting);
	if (err) {
		contents_free(NULL, counting.all);
		return err;
	}
	*ret = *counting.all;
	free(counting.all);
	return NULL;
}

void contents_fini(struct contents *contents)
{
	free(contents->samples);
	contents->samples = NULL;
}
