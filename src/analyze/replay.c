// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Putting records in the order of time, round by round.
#include "analyze/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "perfdata/sample.h"

struct queued {
	uint64_t time, position;
	// Where the record's bytes begin in the buffer.
	size_t at;
	struct record record;
};

struct queue {
	const struct replay_options *options;
	const struct survey *survey;
	ARRAY_OF(struct queued) waiting;
	struct buffer bytes;
	// The latest time so far, and the latest when the last round ended.
	uint64_t latest, latest_of_round;
	bool ignores_rounds;
};

static int queued_compare(const void *left, const void *right)
{
	const struct queued *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

static struct imp_error *hand_out(struct queue *queue, struct queued *item)
{
	item->record.bytes = queue->bytes.bytes + item->at;
	return queue->options->take(queue->options->arg, &item->record);
}

// Moves what is left to the front of the queue and of its bytes. It is sorted by time, and so are
// its bytes then.
static struct imp_error *keep_rest(struct queue *queue, size_t first)
{
	struct buffer bytes = { 0 };
	struct queued *items = queue->waiting.items;
	for (size_t i = first; i < queue->waiting.count; i++) {
		size_t at = bytes.size;
		buffer_append(&bytes, queue->bytes.bytes + items[i].at, items[i].record.size);
		items[i].at = at;
	}
	if (bytes.failed) {
		buffer_fini(&bytes);
		return &imp_error_no_memory;
	}
	buffer_fini(&queue->bytes);
	queue->bytes = bytes;
	queue->waiting.count -= first;
	memmove(items, items + first, queue->waiting.count * sizeof *items);
	return NULL;
}

// Hands out what is not later than LIMIT.
static struct imp_error *flush(struct queue *queue, uint64_t limit)
{
	size_t count = queue->waiting.count, done = 0;
	if (!count)
		return NULL;
	qsort(queue->waiting.items, count, sizeof *queue->waiting.items, queued_compare);
	struct imp_error *err = NULL;
	while (done < count && queue->waiting.items[done].time <= limit && !err)
		err = hand_out(queue, &queue->waiting.items[done++]);
	return err ? err : keep_rest(queue, done);
}

static struct imp_error *end_round(struct queue *queue)
{
	if (queue->ignores_rounds)
		return NULL;
	uint64_t limit = queue->latest_of_round;
	queue->latest_of_round = queue->latest;
	return limit ? flush(queue, limit) : NULL;
}

// RECORD's time; 0 when it has none.
static uint64_t time_of(const struct queue *queue, const struct record *record)
{
	if (record->type != RECORD_SAMPLE) {
		struct sample_id id = { .time = 0 };
		sample_id_read(queue->survey->events, record, &id);
		return id.has_time ? id.time : 0;
	}
	struct sample sample;
	struct imp_error *err = sample_read(queue->survey->events, record, &sample);
	uint64_t time = !err && sample.has_time ? sample.time : 0;
	imp_error_free(err);
	return time;
}

static struct imp_error *take(struct queue *queue, const struct record *record)
{
	uint64_t time = time_of(queue, record);
	if (!time || time == UINT64_MAX || queue->survey->uses_positions)
		return queue->options->take(queue->options->arg, record);
	struct queued *item = array_add(&queue->waiting);
	if (!item)
		return &imp_error_no_memory;
	*item = (struct queued){ time, record->position, queue->bytes.size, *record };
	buffer_append(&queue->bytes, record->bytes, record->size);
	if (time > queue->latest)
		queue->latest = time;
	return queue->bytes.failed ? &imp_error_no_memory : NULL;
}

static struct imp_error *visit(void *arg, unsigned worker, struct chunk *chunk)
{
	struct queue *queue = arg;
	(void)worker;
	struct record record;
	struct imp_error *err = NULL;
	while (!err && chunk_next(chunk, &record)) {
		if (record.type == RECORD_FINISHED_ROUND)
			err = end_round(queue);
		else if (record.type < 64 && queue->options->types >> record.type & 1)
			err = take(queue, &record);
	}
	return err;
}

struct imp_error *replay(struct recording *recording, const struct survey *survey,
			 const struct replay_options *options)
{
	struct queue queue = {
		.options = options,
		.survey = survey,
		.ignores_rounds = recording_mode(recording) == RECORDING_DIRECTORY,
	};
	struct imp_error *err = recording_visit(recording, visit, &queue);
	if (!err)
		err = flush(&queue, UINT64_MAX);
	array_fini(&queue.waiting);
	buffer_fini(&queue.bytes);
	return err;
}
