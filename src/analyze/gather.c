// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Summing samples up by stacks.
#include "analyze/gather.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/chain.h"

struct worker {
	struct gathered sums;
	struct timeline_cache cache;
	struct chain chain;
	// The task of the sample before: most samples in a row are of one thread.
	const char *last_comm;
	struct task last_task;
	uint32_t last_task_number;
	bool has_last_task;
	// The position of first_fault.
	uint64_t fault_position;
};

struct gathering {
	const struct events *events;
	const struct timeline *timeline;
	const struct gather_options *options;
	struct worker *workers;
	unsigned worker_count;
};

void gathered_fini(struct gathered *gathered)
{
	tally_fini(&gathered->tally);
	free(gathered->first_fault);
	gathered->first_fault = NULL;
}

static struct imp_error *find_task(struct gathering *gathering, struct worker *worker,
				   const struct sample *sample, uint64_t time, uint32_t *ret)
{
	const struct gather_options *options = gathering->options;
	const char *comm = timeline_comm(gathering->timeline, sample->pid, sample->tid, time);
	struct task task = {
		.pid = options->by_pid ? (int32_t)sample->pid : TASK_ANY,
		.tid = options->by_tid ? (int32_t)sample->tid : TASK_ANY,
		.cpu = options->by_cpu ? (sample->has_cpu ? (int32_t)sample->cpu : -1) : TASK_ANY,
	};
	bool is_last = worker->has_last_task && comm && comm == worker->last_comm &&
		       task.pid == worker->last_task.pid && task.tid == worker->last_task.tid &&
		       task.cpu == worker->last_task.cpu;
	if (is_last) {
		*ret = worker->last_task_number;
		return NULL;
	}
	char number[16];
	snprintf(number, sizeof number, ":%d", (int32_t)sample->tid);
	const char *name = comm ? comm : sample->tid ? number : "swapper";
	struct imp_error *err =
		tally_task(&worker->sums.tally, sample->has_tid ? name : NULL, &task, ret);
	worker->has_last_task = !err;
	worker->last_comm = comm;
	worker->last_task = task;
	worker->last_task_number = *ret;
	return err;
}

static struct imp_error *find_spot(struct gathering *gathering, struct worker *worker,
				   const struct sample *sample, uint64_t time,
				   const struct chain_entry *entry, uint32_t *ret)
{
	// The call is in the byte before: it may be the last one that is mapped.
	uint64_t back = entry->is_return && entry->address ? 1 : 0;
	struct place place = timeline_locate(gathering->timeline, sample->pid, time, entry->cpumode,
					     abs_addr_of(entry->address - back), &worker->cache);
	struct spot spot = { .object = NO_NUMBER };
	if (place.image == NO_IMAGE) {
		spot.reason = (uint8_t)place.reason;
		spot.cpumode = entry->cpumode;
	} else {
		spot.object = place.image;
		spot.is_return = back;
		spot.offset = place.offset.value + back;
		if (gathering->options->objects_only) {
			spot.is_return = false;
			spot.offset = 0;
		}
	}
	return tally_spot(&worker->sums.tally, &spot, ret);
}

// A sample of which no address is known still counts.
static struct imp_error *add_nowhere(struct worker *worker, const struct sample *sample,
				     uint32_t *node)
{
	struct spot spot = { .object = NO_NUMBER,
			     .reason = UNKNOWN_NO_ADDRESS,
			     .cpumode = (uint8_t)sample->cpumode };
	uint32_t number;
	struct imp_error *err = tally_spot(&worker->sums.tally, &spot, &number);
	return err ? err : tally_call(&worker->sums.tally, *node, number, node);
}

static struct imp_error *add_stack(struct gathering *gathering, struct worker *worker,
				   const struct sample *sample, uint64_t time, uint32_t *node)
{
	const struct chain *chain = &worker->chain;
	size_t count = gathering->options->with_chains ? chain->entries.count
						       : chain->entries.count > 0;
	for (size_t i = count; i-- > 0;) {
		uint32_t spot;
		struct imp_error *err =
			find_spot(gathering, worker, sample, time, &chain->entries.items[i], &spot);
		if (!err)
			err = tally_call(&worker->sums.tally, *node, spot, node);
		if (err)
			return err;
	}
	return count ? NULL : add_nowhere(worker, sample, node);
}

static void note_time(struct gathered *sums, uint64_t time)
{
	if (!sums->first_time || time < sums->first_time)
		sums->first_time = time;
	if (time > sums->last_time)
		sums->last_time = time;
}

// Keeps the message of the fault that stands first in the file, whoever met it.
static void note_fault(struct worker *worker, const struct record *record, struct imp_error *err)
{
	struct gathered *sums = &worker->sums;
	sums->unreadable_samples++;
	if (!sums->first_fault || record->position < worker->fault_position) {
		free(sums->first_fault);
		sums->first_fault = strdup(imp_error_message(err));
		worker->fault_position = record->position;
	}
	imp_error_free(err);
}

static struct imp_error *add_sample(struct gathering *gathering, struct worker *worker,
				    const struct record *record)
{
	struct sample sample;
	struct imp_error *err = sample_read(gathering->events, record, &sample);
	if (err) {
		note_fault(worker, record, err);
		return NULL;
	}
	struct gathered *sums = &worker->sums;
	uint64_t time = gathering->options->has_no_times ? record->position : sample.time;
	if (sample.has_time)
		note_time(sums, sample.time);
	if (!sample.has_tid)
		sample.pid = sample.tid = (uint32_t)-1;
	uint32_t task, node;
	err = find_task(gathering, worker, &sample, time, &task);
	if (!err)
		err = chain_read(&sample, &worker->chain);
	if (!err)
		err = tally_root(&sums->tally, (uint32_t)(sample.event - gathering->events->items),
				 task, &node);
	if (!err)
		err = add_stack(gathering, worker, &sample, time, &node);
	if (err)
		return err;
	tally_add(&sums->tally, node, 1, sample.period);
	sums->samples++;
	sums->samples_without_address += !sample.has_ip;
	sums->has_chains |= sample.chain.count > 0;
	return NULL;
}

static struct imp_error *visit(void *arg, unsigned number, struct chunk *chunk)
{
	struct gathering *gathering = arg;
	struct worker *worker = &gathering->workers[number];
	struct record record;
	while (chunk_next(chunk, &record)) {
		if (record.type != RECORD_SAMPLE)
			continue;
		struct imp_error *err = add_sample(gathering, worker, &record);
		if (err)
			return err;
	}
	return NULL;
}

static struct imp_error *merge(struct worker *into, struct worker *from)
{
	struct gathered *sums = &into->sums, *others = &from->sums;
	struct imp_error *err = tally_merge(&sums->tally, &others->tally);
	sums->samples += others->samples;
	sums->unreadable_samples += others->unreadable_samples;
	sums->samples_without_address += others->samples_without_address;
	sums->has_chains |= others->has_chains;
	if (others->first_time)
		note_time(sums, others->first_time);
	if (others->last_time)
		note_time(sums, others->last_time);
	bool is_earlier = others->first_fault &&
			  (!sums->first_fault || from->fault_position < into->fault_position);
	if (is_earlier) {
		free(sums->first_fault);
		sums->first_fault = steal(others->first_fault);
		into->fault_position = from->fault_position;
	}
	gathered_fini(others);
	*others = (struct gathered){ 0 };
	return err;
}

struct imp_error *gather(struct recording *recording, const struct timeline *timeline,
			 const struct gather_options *options, struct gathered *ret)
{
	struct gathering gathering = {
		.events = recording_events(recording),
		.timeline = timeline,
		.options = options,
		.worker_count = recording_workers(recording),
	};
	gathering.workers = calloc(gathering.worker_count, sizeof *gathering.workers);
	if (!gathering.workers)
		return &imp_error_no_memory;
	struct imp_error *err = recording_visit(recording, visit, &gathering);
	struct worker *workers = gathering.workers;
	for (unsigned i = 1; i < gathering.worker_count && !err; i++)
		err = merge(&workers[0], &workers[i]);
	if (!err) {
		*ret = workers[0].sums;
		workers[0].sums = (struct gathered){ 0 };
	}
	for (unsigned i = 0; i < gathering.worker_count; i++) {
		gathered_fini(&workers[i].sums);
		array_fini(&workers[i].chain.entries);
	}
	free(workers);
	return err;
}
