// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Summing samples up by stacks.
#include "analyze/gather.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analyze/chain.h"
#include "analyze/stack_memo.h"
#include "analyze/stack_queue.h"

// What a sample's task is known by. Texts and sets are the timeline's: the same at the same
// address.
struct task_signs {
	// Each is NULL when not recorded or not asked for.
	const char *comm, *cgroup;
	const struct namespace_set *namespaces;
	struct task task;
};

struct worker {
	struct gathered sums;
	struct timeline_cache cache;
	struct stack_memo memo;
	struct stack_queue queue;
	struct chain chain;
	// NULL: copied stacks are left alone.
	struct stack_walker *walker;
	// The task of the sample before: most samples in a row are of one thread.
	struct task_signs last_signs;
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
	stack_walk_sums_fini(&gathered->walked);
	free(gathered->first_fault);
	gathered->first_fault = NULL;
}

static bool has_cgroup(const struct sample *sample)
{
	return sample->event->attr.sample_type & SAMPLE_CGROUP;
}

static struct task_signs find_signs(const struct gathering *gathering, const struct sample *sample,
				    uint64_t time)
{
	const struct gather_options *options = gathering->options;
	const struct timeline *timeline = gathering->timeline;
	struct task_signs signs = {
		.task.pid = options->by_pid ? (int32_t)sample->pid : TASK_ANY,
		.task.tid = options->by_tid ? (int32_t)sample->tid : TASK_ANY,
		.task.cpu = options->by_cpu ? (sample->has_cpu ? (int32_t)sample->cpu : -1)
					    : TASK_ANY,
	};
	// A task that is gone has -1 for its numbers, and no name.
	if (sample->tid != UINT32_MAX)
		signs.comm = timeline_comm(timeline, sample->pid, sample->tid, time);
	if (options->by_cgroup && has_cgroup(sample))
		signs.cgroup = timeline_cgroup(timeline, sample->cgroup, time);
	if (options->by_cgroup_id)
		signs.namespaces = timeline_namespaces(timeline, sample->pid, sample->tid, time);
	return signs;
}

// Whether SIGNS say all, so that what was found for the same signs before holds again.
static bool is_repeated(const struct worker *worker, const struct task_signs *signs, bool by_cgroup)
{
	const struct task_signs *last = &worker->last_signs;
	return worker->has_last_task && signs->comm && (signs->cgroup || !by_cgroup) &&
	       signs->comm == last->comm && signs->cgroup == last->cgroup &&
	       signs->namespaces == last->namespaces && signs->task.pid == last->task.pid &&
	       signs->task.tid == last->task.tid && signs->task.cpu == last->task.cpu;
}

static struct imp_error *find_task(struct gathering *gathering, struct worker *worker,
				   const struct sample *sample, uint64_t time, uint32_t *ret)
{
	bool by_cgroup = gathering->options->by_cgroup;
	struct task_signs signs = find_signs(gathering, sample, time);
	if (is_repeated(worker, &signs, by_cgroup)) {
		*ret = worker->last_task_number;
		return NULL;
	}
	char number[16], cgroup[40], cgroup_id[48];
	struct task_texts texts = { .comm = signs.comm, .cgroup = signs.cgroup };
	snprintf(number, sizeof number, ":%d", (int32_t)sample->tid);
	if (!sample->has_tid)
		texts.comm = NULL;
	else if (!texts.comm)
		texts.comm = sample->tid ? number : "swapper";
	// A cgroup of which the recording has the number alone.
	snprintf(cgroup, sizeof cgroup, "[cgroup %" PRIu64 "]", sample->cgroup);
	if (by_cgroup && has_cgroup(sample) && !signs.cgroup)
		texts.cgroup = cgroup;
	if (signs.namespaces) {
		const struct namespace_file *file = &signs.namespaces->kinds[NAMESPACE_CGROUP];
		snprintf(cgroup_id, sizeof cgroup_id, "%" PRIu64 "/0x%" PRIx64, file->device,
			 file->inode);
		texts.cgroup_id = cgroup_id;
	}
	struct imp_error *err = tally_task(&worker->sums.tally, &texts, &signs.task, ret);
	worker->has_last_task = !err;
	worker->last_signs = signs;
	worker->last_task_number = *ret;
	return err;
}

// A sample that is being located, and for which times all that was found of it so far holds.
struct located {
	const struct sample *sample;
	uint64_t time;
	uint64_t from, to;
};

static struct stretch find_stretch(struct gathering *gathering, struct worker *worker,
				   struct located *located, uint8_t cpumode, uint64_t address)
{
	struct stretch stretch = timeline_find(gathering->timeline, located->sample->pid,
					       located->time, cpumode, abs_addr_of(address),
					       &worker->cache);
	if (stretch.from > located->from)
		located->from = stretch.from;
	if (stretch.to < located->to)
		located->to = stretch.to;
	return stretch;
}

static struct spot find_spot(struct gathering *gathering, struct worker *worker,
			     struct located *located, const struct chain_entry *entry)
{
	// The call is in the byte before: it may be the last one that is mapped. Where none is,
	// the address itself is meant, as with trampolines that nobody called.
	uint64_t back = entry->is_return && entry->address ? 1 : 0;
	struct stretch stretch =
		find_stretch(gathering, worker, located, entry->cpumode, entry->address - back);
	if (stretch.image == NO_IMAGE && back) {
		back = 0;
		stretch = find_stretch(gathering, worker, located, entry->cpumode, entry->address);
	}
	struct spot spot = { .object = NO_NUMBER };
	if (stretch.image == NO_IMAGE) {
		spot.reason = (uint8_t)stretch.reason;
		spot.cpumode = entry->cpumode;
	} else {
		spot.object = stretch.image;
		spot.is_return = back;
		spot.offset = entry->address - stretch.base;
		if (gathering->options->objects_only) {
			spot.is_return = false;
			spot.offset = 0;
		}
	}
	return spot;
}

// A sample of which no address is known still counts.
static struct imp_error *add_nowhere(struct worker *worker, const struct sample *sample,
				     struct stack_key *key)
{
	struct spot spot = { .object = NO_NUMBER,
			     .reason = UNKNOWN_NO_ADDRESS,
			     .cpumode = (uint8_t)sample->cpumode };
	return stack_queue_step(&worker->queue, &spot, key);
}

// Goes from *KEY down by the chain's entry INDEX.
static struct imp_error *add_entry(struct gathering *gathering, struct worker *worker,
				   struct located *located, size_t index, struct stack_key *key)
{
	struct spot spot =
		find_spot(gathering, worker, located, &worker->chain.entries.items[index]);
	return stack_queue_step(&worker->queue, &spot, key);
}

// From ROOT to SAMPLE's callers, whose stack's key *KEY becomes: by memory as far as it goes, then
// by locating frame after frame.
static struct imp_error *find_callers(struct gathering *gathering, struct worker *worker,
				      struct located *located, uint32_t root, struct stack_key *key)
{
	struct stack_memo *memo = &worker->memo;
	size_t count = worker->chain.entries.count, known = 1;
	struct imp_error *err = stack_memo_ask(memo, &worker->chain, root, located->sample->pid);
	if (err)
		return err;
	const struct stack_memo_slot *slot = NULL;
	while (known < count && !(slot = stack_memo_find(memo, known, located->time)))
		known++;
	if (slot) {
		*key = slot->place;
		located->from = slot->from;
		located->to = slot->to;
	}
	stack_queue_begin(&worker->queue, key);
	for (size_t i = known; i-- > 1;) {
		err = add_entry(gathering, worker, located, i, key);
		if (err)
			return err;
		stack_memo_keep(memo, i, key, located->from, located->to);
	}
	return NULL;
}

// Queues the stack of SAMPLE, which begins at ROOT.
static struct imp_error *find_stack(struct gathering *gathering, struct worker *worker,
				    const struct sample *sample, uint64_t time,
				    const struct stack_place *root)
{
	struct located located = { sample, time, 0, UINT64_MAX };
	struct stack_key key = root->key;
	bool is_missing = false;
	bool needs_callers = gathering->options->with_chains || worker->walker;
	struct imp_error *err = needs_callers ? chain_read(sample, &worker->chain)
					      : chain_read_head(sample, &worker->chain);
	if (!err && gathering->options->with_chains)
		err = deferred_chains_join(gathering->options->deferred, sample, &worker->chain,
					   &is_missing);
	if (!err && worker->walker)
		err = stack_walk_extend(worker->walker, sample, time, &worker->chain);
	if (err)
		return err;
	worker->sums.unjoined_chains += is_missing;
	if (gathering->options->with_chains && worker->chain.entries.count > 1)
		err = find_callers(gathering, worker, &located, root->node, &key);
	else
		stack_queue_begin(&worker->queue, &key);
	if (err)
		return err;
	return worker->chain.entries.count ? add_entry(gathering, worker, &located, 0, &key)
					   : add_nowhere(worker, sample, &key);
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
	if (!sample_choice_takes(gathering->options->choice, gathering->timeline, &sample, time)) {
		sums->left_out++;
		return NULL;
	}
	if (sample.has_time)
		note_time(sums, sample.time);
	if (!sample.has_tid)
		sample.pid = sample.tid = (uint32_t)-1;
	uint32_t task;
	struct stack_place root;
	err = find_task(gathering, worker, &sample, time, &task);
	if (!err)
		err = tally_root(&sums->tally, (uint32_t)(sample.event - gathering->events->items),
				 task, &root);
	if (!err)
		err = find_stack(gathering, worker, &sample, time, &root);
	if (!err)
		err = stack_queue_end(&worker->queue, &sums->tally, sample.period);
	if (err)
		return err;
	sums->samples++;
	sums->samples_without_address += !sample.has_ip;
	sums->has_chains |= sample.chain.count > 0 || worker->chain.entries.count > 1;
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
	return stack_queue_flush(&worker->queue, &worker->sums.tally);
}

static struct imp_error *merge(struct worker *into, struct worker *from)
{
	struct gathered *sums = &into->sums, *others = &from->sums;
	struct imp_error *err = tally_merge(&sums->tally, &others->tally);
	if (!err)
		err = stack_walk_sums_merge(&sums->walked, &others->walked);
	sums->samples += others->samples;
	sums->left_out += others->left_out;
	sums->unreadable_samples += others->unreadable_samples;
	sums->samples_without_address += others->samples_without_address;
	sums->unjoined_chains += others->unjoined_chains;
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

static struct imp_error *workers_init(struct gathering *gathering)
{
	struct stack_key seed = { 0 };
	// Without a seed that nobody knows, chains could be made that meet: no worse than that.
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed.first = (uintptr_t)gathering;
	gathering->workers = calloc(gathering->worker_count, sizeof *gathering->workers);
	struct imp_error *err = gathering->workers ? NULL : &imp_error_no_memory;
	for (unsigned i = 0; i < gathering->worker_count && !err; i++) {
		gathering->workers[i].sums.tally.seed = seed.first;
		err = stack_memo_init(&gathering->workers[i].memo, &seed);
		if (!err && gathering->options->walk)
			err = stack_walker_new(gathering->options->walk,
					       &gathering->workers[i].walker);
	}
	return err;
}

static void workers_fini(struct gathering *gathering)
{
	for (unsigned i = 0; gathering->workers && i < gathering->worker_count; i++) {
		gathered_fini(&gathering->workers[i].sums);
		stack_memo_fini(&gathering->workers[i].memo);
		stack_queue_fini(&gathering->workers[i].queue);
		array_fini(&gathering->workers[i].chain.entries);
		stack_walker_free(gathering->workers[i].walker);
	}
	free(gathering->workers);
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
	struct imp_error *err = workers_init(&gathering);
	if (!err)
		err = recording_visit(recording, visit, &gathering);
	struct worker *workers = gathering.workers;
	for (unsigned i = 0; i < gathering.worker_count && !err; i++)
		if (workers[i].walker)
			stack_walker_take_sums(workers[i].walker, &workers[i].sums.walked);
	for (unsigned i = 1; i < gathering.worker_count && !err; i++)
		err = merge(&workers[0], &workers[i]);
	if (!err) {
		*ret = workers[0].sums;
		workers[0].sums = (struct gathered){ 0 };
	}
	workers_fini(&gathering);
	return err;
}
