// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The first pass over a recording: what is in it, and who mapped what when.
#include "analyze/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "perfdata/sample.h"

// A record that outlives its chunk: this, and its bytes behind it.
struct kept_record {
	uint64_t offset, position;
	uint32_t type;
	uint32_t size;
	uint16_t misc;
	bool swap;
};

struct survey_part {
	const struct events *events;
	uint64_t records[SURVEY_TYPES];
	uint64_t other_records;
	uint64_t lost_records, lost_samples;
	uint64_t first_time_ns, last_time_ns;
	// Where every sample has its time, or NO_FIELD when it is to be looked for.
	uint16_t time_at;
	struct buffer kept;
};

static bool has_time(const struct event *event)
{
	return event->layout.time != NO_FIELD && event->layout.trailer_time != NO_FIELD;
}

static bool needs_positions(const struct events *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!has_time(&events->items[i]))
			return true;
	return events->count == 0;
}

static struct imp_error *add_table(struct survey *survey, const struct recording *recording)
{
	for (size_t i = 0; i < recording_build_id_count(recording); i++) {
		struct imp_error *err =
			timeline_add_build_id(survey->timeline, recording_build_id(recording, i));
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *survey_begin(struct recording *recording, const struct log *log,
			       struct survey **ret)
{
	struct survey *survey = calloc(1, sizeof *survey);
	if (!survey)
		return &imp_error_no_memory;
	survey->log = log;
	survey->events = recording_events(recording);
	survey->uses_positions = needs_positions(survey->events);
	survey->first_time_ns = UINT64_MAX;
	struct timeline_options options = { .log = log, .has_no_times = survey->uses_positions };
	struct imp_error *err = timeline_new(&options, &survey->timeline);
	if (!err)
		err = add_table(survey, recording);
	if (err)
		survey_free(survey);
	else
		*ret = survey;
	return err;
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	timeline_free(survey->timeline);
	for (size_t i = 0; i < SURVEY_MOST_PROBLEMS; i++)
		free(survey->problems[i]);
	jit_mentions_fini(&survey->jit);
	free(survey);
}

// The place of a sample's time when all events have it at the same.
static uint16_t common_time(const struct events *events)
{
	for (size_t i = 1; i < events->count; i++)
		if (events->items[i].layout.time != events->items[0].layout.time)
			return NO_FIELD;
	return events->count ? events->items[0].layout.time : NO_FIELD;
}

struct imp_error *survey_part_new(const struct survey *survey, struct survey_part **ret)
{
	struct survey_part *part = calloc(1, sizeof *part);
	if (!part)
		return &imp_error_no_memory;
	part->events = survey->events;
	part->first_time_ns = UINT64_MAX;
	part->time_at = common_time(survey->events);
	*ret = part;
	return NULL;
}

void survey_part_free(struct survey_part *part)
{
	if (part)
		buffer_fini(&part->kept);
	free(part);
}

static void take_time(struct survey_part *part, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	if (time < part->first_time_ns)
		part->first_time_ns = time;
	if (time > part->last_time_ns)
		part->last_time_ns = time;
}

static void take_sample(struct survey_part *part, const struct record *record)
{
	uint64_t time;
	if (part->time_at != NO_FIELD) {
		if (record->size < part->time_at + sizeof time)
			return;
		memcpy(&time, record->bytes + part->time_at, sizeof time);
		take_time(part, record->swap ? __builtin_bswap64(time) : time);
		return;
	}
	struct sample sample;
	struct imp_error *err = sample_read(part->events, record, &sample);
	// Who looks at the sample itself tells what is wrong with it.
	if (!err && sample.has_time)
		take_time(part, sample.time);
	imp_error_free(err);
}

static void take_lost(struct survey_part *part, const struct record *record)
{
	struct lost_record lost;
	struct imp_error *err = lost_record_read(record, &lost);
	if (!err && record->type == RECORD_LOST)
		part->lost_records += lost.lost;
	else if (!err)
		part->lost_samples += lost.lost;
	imp_error_free(err);
}

static struct imp_error *keep(struct survey_part *part, const struct record *record)
{
	struct kept_record kept = { record->offset, record->position, record->type,
				    record->size,   record->misc,     record->swap };
	buffer_append(&part->kept, &kept, sizeof kept);
	buffer_append(&part->kept, record->bytes, record->size);
	return part->kept.failed ? &imp_error_no_memory : NULL;
}

struct imp_error *survey_part_take(struct survey_part *part, const struct record *record)
{
	if (record->type < SURVEY_TYPES)
		part->records[record->type]++;
	else
		part->other_records++;
	if (record->type == RECORD_SAMPLE)
		take_sample(part, record);
	else if (record->type == RECORD_LOST || record->type == RECORD_LOST_SAMPLES)
		take_lost(part, record);
	else if (timeline_wants(record->type))
		return keep(part, record);
	return NULL;
}

// Notes what is wrong with a record and goes on without it; memory that ran out is passed on.
static struct imp_error *note_problem(struct survey *survey, struct imp_error *error)
{
	if (imp_error_code(error) == IMP_ERR_NO_MEMORY)
		return error;
	if (survey->bad_records < SURVEY_MOST_PROBLEMS) {
		log_message(survey->log, LOG_WARNING, "%s", imp_error_message(error));
		survey->problems[survey->bad_records] = strdup(imp_error_message(error));
	}
	survey->bad_records++;
	imp_error_free(error);
	return NULL;
}

static struct imp_error *add_kept(struct survey *survey, const struct buffer *buffer)
{
	for (size_t at = 0; at < buffer->size;) {
		struct kept_record kept;
		memcpy(&kept, buffer->bytes + at, sizeof kept);
		struct record record = { .type = kept.type,
					 .misc = kept.misc,
					 .size = kept.size,
					 .bytes = buffer->bytes + at + sizeof kept,
					 .swap = kept.swap,
					 .offset = kept.offset,
					 .position = kept.position };
		struct imp_error *err = timeline_add(survey->timeline, survey->events, &record);
		if (err)
			err = note_problem(survey, err);
		if (!err && (kept.type == RECORD_MMAP || kept.type == RECORD_MMAP2))
			err = jit_mentions_note(&survey->jit, survey->events, &record);
		if (err)
			return err;
		at += sizeof kept + kept.size;
	}
	return NULL;
}

struct imp_error *survey_commit(struct survey *survey, const struct survey_part *part)
{
	for (size_t type = 0; type < SURVEY_TYPES; type++)
		survey->records[type] += part->records[type];
	survey->other_records += part->other_records;
	survey->lost_records += part->lost_records;
	survey->lost_samples += part->lost_samples;
	if (part->first_time_ns < survey->first_time_ns)
		survey->first_time_ns = part->first_time_ns;
	if (part->last_time_ns > survey->last_time_ns)
		survey->last_time_ns = part->last_time_ns;
	return add_kept(survey, &part->kept);
}

struct imp_error *survey_finish(struct survey *survey)
{
	survey->has_times = survey->first_time_ns <= survey->last_time_ns;
	if (!survey->has_times)
		survey->first_time_ns = 0;
	return timeline_finish(survey->timeline);
}

static struct imp_error *read_chunk(void *arg, struct chunk *chunk, void **result)
{
	const struct survey *survey = arg;
	struct survey_part *part;
	struct imp_error *err = survey_part_new(survey, &part);
	if (err)
		return err;
	struct record record;
	while (!err && chunk_next(chunk, &record))
		err = survey_part_take(part, &record);
	if (err)
		survey_part_free(part);
	else
		*result = part;
	return err;
}

static struct imp_error *commit_part(void *arg, void *result)
{
	struct imp_error *err = survey_commit(arg, result);
	survey_part_free(result);
	return err;
}

static void discard_part(void *arg, void *result)
{
	(void)arg;
	survey_part_free(result);
}

struct imp_error *survey_new(struct recording *recording, const struct log *log,
			     struct survey **ret)
{
	static const struct scan scan = { read_chunk, commit_part, discard_part };
	struct survey *survey;
	struct imp_error *err = survey_begin(recording, log, &survey);
	if (err)
		return err;
	err = recording_scan(recording, &scan, survey);
	if (!err && !survey->uses_positions)
		err = jit_mentions_add(&survey->jit, recording, survey->timeline, log);
	if (!err)
		err = survey_finish(survey);
	if (err)
		survey_free(survey);
	else
		*ret = survey;
	return err;
}
