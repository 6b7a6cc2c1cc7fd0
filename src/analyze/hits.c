// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which images the samples of a recording fell into, and how often.
#include "analyze/hits.h"

#include <stdlib.h>

#include "analyze/glance.h"
#include "analyze/second_look.h"
#include "base/cleanup.h"
#include "perfdata/sample.h"

// One for each worker.
struct counter {
	struct hits *hits;
	struct timeline_cache cache;
};

struct counting {
	const struct survey *survey;
	struct counter *counters;
};

void hits_free(struct hits *hits)
{
	if (!hits)
		return;
	free(hits->samples);
	free(hits->is_hit);
	free(hits);
}

static struct imp_error *hits_new(const struct timeline *timeline, struct hits **ret)
{
	struct hits *hits = calloc(1, sizeof *hits);
	if (!hits)
		return &imp_error_no_memory;
	hits->image_count = timeline_image_count(timeline);
	hits->samples = calloc(hits->image_count + 1, sizeof *hits->samples);
	hits->is_hit = calloc(hits->image_count + 1, sizeof *hits->is_hit);
	if (!hits->samples || !hits->is_hit) {
		hits_free(hits);
		return &imp_error_no_memory;
	}
	*ret = hits;
	return NULL;
}

static void hits_merge(struct hits *hits, const struct hits *more)
{
	for (size_t i = 0; i < hits->image_count; i++) {
		hits->samples[i] += more->samples[i];
		hits->is_hit[i] = hits->is_hit[i] || more->is_hit[i];
	}
	for (size_t i = 0; i < UNKNOWN_REASONS; i++)
		hits->unknown[i] += more->unknown[i];
	hits->without_address += more->without_address;
	hits->unread += more->unread;
}

// Who asks: the process and time of a sample.
struct moment {
	uint32_t pid;
	uint64_t time;
};

static void count_chain(const struct counting *counting, struct counter *counter,
			const struct words *chain, unsigned cpumode, struct moment moment)
{
	// A marker's first address is exact, the others are where calls return to: the call itself
	// is before.
	uint64_t back = 0;
	for (uint64_t i = 0; i < chain->count; i++) {
		uint64_t address = word_at(chain, i);
		if (address >= CHAIN_CONTEXT_MAX) {
			// Behind this marker stands a number, not an address.
			if (address == CHAIN_CONTEXT_USER_DEFERRED)
				return;
			cpumode = glance_mode_of(address);
			back = 0;
			continue;
		}
		struct place place = timeline_locate(counting->survey->timeline, moment.pid,
						     moment.time, cpumode,
						     abs_addr_of(address - back), &counter->cache);
		back = 1;
		if (place.image != NO_IMAGE)
			counter->hits->is_hit[place.image] = true;
	}
}

static void count_sample(const struct counting *counting, struct counter *counter,
			 const struct record *record)
{
	struct sample sample;
	struct hits *hits = counter->hits;
	struct imp_error *err = sample_read(counting->survey->events, record, &sample);
	if (err) {
		hits->unread++;
		imp_error_free(err);
		return;
	}
	struct moment moment = { sample.has_tid ? sample.pid : UINT32_MAX,
				 survey_time(counting->survey, record, sample.time) };
	count_chain(counting, counter, &sample.chain, sample.cpumode, moment);
	if (!sample.has_ip) {
		hits->without_address++;
		return;
	}
	struct place place = timeline_locate(counting->survey->timeline, moment.pid, moment.time,
					     sample.cpumode, abs_addr_of(sample.ip),
					     &counter->cache);
	if (place.image == NO_IMAGE) {
		hits->unknown[place.reason]++;
		return;
	}
	hits->samples[place.image]++;
	hits->is_hit[place.image] = true;
}

static void count_deferred(const struct counting *counting, struct counter *counter,
			   const struct record *record)
{
	struct deferred_chain deferred;
	struct imp_error *err = deferred_chain_read(record, &deferred);
	if (err) {
		counter->hits->unread++;
		imp_error_free(err);
		return;
	}
	struct sample_id id;
	sample_id_read(counting->survey->events, record, &id);
	struct moment moment = { id.has_tid ? id.pid : UINT32_MAX,
				 survey_time(counting->survey, record, id.time) };
	count_chain(counting, counter, &deferred.chain, MISC_USER, moment);
}

static struct imp_error *count_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	const struct counting *counting = arg;
	struct counter *counter = &counting->counters[worker];
	struct record record;
	while (chunk_next(chunk, &record)) {
		if (record.type == RECORD_SAMPLE)
			count_sample(counting, counter, &record);
		else if (record.type == RECORD_CALLCHAIN_DEFERRED)
			count_deferred(counting, counter, &record);
	}
	return NULL;
}

struct imp_error *hits_count(struct recording *recording, const struct survey *survey,
			     struct hits **ret)
{
	unsigned workers = recording_workers(recording);
	struct counting counting = { .survey = survey,
				     .counters = calloc(workers, sizeof *counting.counters) };
	struct hits *hits = NULL;
	struct imp_error *err = counting.counters ? hits_new(survey->timeline, &hits)
						  : &imp_error_no_memory;
	for (unsigned i = 0; !err && i < workers; i++)
		err = hits_new(survey->timeline, &counting.counters[i].hits);
	if (!err)
		err = recording_visit(recording, count_chunk, &counting);
	for (unsigned i = 0; counting.counters && i < workers; i++) {
		if (!err)
			hits_merge(hits, counting.counters[i].hits);
		hits_free(counting.counters[i].hits);
	}
	free(counting.counters);
	if (err)
		hits_free(hits);
	else
		*ret = hits;
	return err;
}

// The one pass: surveys, and keeps where samples were seen until it is known what was there.
struct single_pass {
	struct survey *survey;
	struct hit_search search;
	// The timeline drops what it has replayed.
	bool is_forgetful;
};

struct single_part {
	struct survey_part *survey;
	struct sightings sightings;
	uint64_t position;
	bool ends_round, is_inflated;
};

static void single_part_free(struct single_part *part)
{
	survey_part_free(part->survey);
	array_fini(&part->sightings.all);
	free(part);
}

static bool changes_a_process(uint32_t type)
{
	return type == RECORD_MMAP || type == RECORD_MMAP2 || type == RECORD_COMM ||
	       type == RECORD_FORK || type == RECORD_EXIT;
}

static struct imp_error *take_all(struct single_part *part, struct sighter *sighter,
				  struct chunk *chunk)
{
	struct record record;
	while (chunk_next(chunk, &record)) {
		struct imp_error *err = survey_part_take(part->survey, &record);
		if (err)
			return err;
		if (record.type == RECORD_SAMPLE || record.type == RECORD_CALLCHAIN_DEFERRED)
			sighter_take(sighter, &record);
		else if (record.type == RECORD_FINISHED_ROUND)
			part->ends_round = true;
		else if (changes_a_process(record.type))
			sighter_note(sighter, &record);
	}
	part->is_inflated = part->is_inflated || chunk->is_inflated;
	return sighter_finish(sighter, &part->sightings);
}

static struct imp_error *single_read(void *arg, struct chunk *chunk, void **result)
{
	const struct single_pass *pass = arg;
	struct single_part *part = calloc(1, sizeof *part);
	if (!part)
		return &imp_error_no_memory;
	// A piece that was read ahead begins before its first record.
	part->position = chunk->position + chunk->at;
	part->is_inflated = chunk->is_inflated;
	struct sighter *sighter = NULL;
	struct imp_error *err = survey_part_new(pass->survey, &part->survey);
	if (!err)
		err = sighter_new(pass->survey, &sighter);
	if (!err)
		err = take_all(part, sighter, chunk);
	sighter_free(sighter);
	if (err)
		single_part_free(part);
	else
		*result = part;
	return err;
}

static struct imp_error *single_commit(void *arg, void *result)
{
	struct single_pass *pass = arg;
	struct single_part *part = result;
	struct chunk_sightings chunk = { &part->sightings, part->position, part->ends_round,
					 part->is_inflated };
	struct imp_error *err = survey_commit(pass->survey, part->survey);
	if (!err)
		err = hit_search_add(&pass->search, &chunk);
	single_part_free(part);
	return err;
}

static void single_discard(void *arg, void *result)
{
	(void)arg;
	single_part_free(result);
}

static struct imp_error *search_run(struct recording *recording, struct single_pass *pass)
{
	static const struct scan scan = { single_read, single_commit, single_discard };
	struct imp_error *err = recording_scan(recording, &scan, pass);
	if (!err && pass->is_forgetful && timeline_was_late(pass->survey->timeline))
		return NULL;
	if (!err)
		err = survey_finish(pass->survey);
	if (!err)
		err = hit_search_finish(&pass->search);
	while (!err && hit_search_next(&pass->search))
		err = second_look(recording, pass->survey, &pass->search);
	return err;
}

static struct imp_error *pass_run(struct recording *recording, const struct log *log,
				  struct single_pass *pass)
{
	struct imp_error *err = survey_begin(recording, log, &pass->survey);
	if (err)
		return err;
	pass->search.timeline = pass->survey->timeline;
	pass->search.has_no_times = pass->survey->uses_positions;
	if (pass->is_forgetful)
		timeline_forget(pass->survey->timeline);
	return search_run(recording, pass);
}

struct imp_error *hits_survey(struct recording *recording, const struct log *log,
			      struct survey **survey, struct hits **ret)
{
	struct single_pass pass = { .is_forgetful = true };
	struct hits *hits = NULL;
	struct imp_error *err = pass_run(recording, log, &pass);
	if (!err && timeline_was_late(pass.survey->timeline)) {
		// Its records were not in rounds: all are kept until the end. What is wrong with
		// them was said already.
		hit_search_fini(&pass.search);
		survey_free(pass.survey);
		pass = (struct single_pass){ .is_forgetful = false };
		err = pass_run(recording, NULL, &pass);
	}
	if (!err)
		err = hits_new(pass.survey->timeline, &hits);
	for (size_t i = 0; !err && i < hits->image_count; i++)
		hits->is_hit[i] = pass.search.is_hit.items[i];
	hit_search_fini(&pass.search);
	if (err) {
		survey_free(pass.survey);
		return err;
	}
	*survey = pass.survey;
	*ret = hits;
	return NULL;
}
