// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Joining the user part of a call chain to its samples.
//
// Source: struct perf_callchain_deferred_event in tools/lib/perf/include/perf/event.h of Linux
// 6.19: all samples that a thread took since it entered the kernel have the record's cookie.
#include "analyze/deferred.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

// A run of `words`.
struct run {
	uint32_t first, count;
};

struct arrival {
	uint64_t cookie;
	uint32_t tid;
	// Index of its chain.
	uint32_t run;
};

struct deferred_chains {
	const struct events *events;
	pthread_mutex_t lock;
	ARRAY_OF(struct arrival) arrivals;
	struct table by_cookie;
	ARRAY_OF(struct run) runs;
	struct table by_words;
	ARRAY_OF(uint64_t) words;
};

void deferred_chains_free(struct deferred_chains *deferred)
{
	if (!deferred)
		return;
	array_fini(&deferred->arrivals);
	array_fini(&deferred->runs);
	array_fini(&deferred->words);
	table_fini(&deferred->by_cookie);
	table_fini(&deferred->by_words);
	pthread_mutex_destroy(&deferred->lock);
	free(deferred);
}

// Puts CHAIN behind the words that are there, as a run of its own or as one that is known.
static struct imp_error *run_intern(struct deferred_chains *deferred, const struct words *chain,
				    uint32_t *ret)
{
	if (deferred->words.count + chain->count > UINT32_MAX ||
	    !array_reserve(&deferred->words, chain->count))
		return &imp_error_no_memory;
	size_t first = deferred->words.count, size = chain->count * sizeof(uint64_t);
	uint64_t *fresh = deferred->words.items + first;
	for (uint64_t i = 0; i < chain->count; i++)
		fresh[i] = word_at(chain, i);
	uint64_t hash = hash_bytes(chain->count, fresh, size);
	struct table_probe probe = table_probe(&deferred->by_words, hash);
	while (table_next(&deferred->by_words, &probe, ret)) {
		const struct run *run = &deferred->runs.items[*ret];
		if (run->count == chain->count &&
		    (!size || !memcmp(deferred->words.items + run->first, fresh, size)))
			return NULL;
	}
	struct run *run = array_add(&deferred->runs);
	if (!run)
		return &imp_error_no_memory;
	*run = (struct run){ (uint32_t)first, (uint32_t)chain->count };
	deferred->words.count += chain->count;
	*ret = (uint32_t)deferred->runs.count - 1;
	return table_insert(&deferred->by_words, hash, *ret) ? NULL : &imp_error_no_memory;
}

static uint64_t cookie_hash(uint64_t cookie, uint32_t tid)
{
	return hash_mix(hash_mix(0, cookie), tid);
}

static struct imp_error *add(struct deferred_chains *deferred, const struct record *record)
{
	struct deferred_chain chain;
	struct sample_id id;
	struct imp_error *err = deferred_chain_read(record, &chain);
	if (err) {
		// What its samples lack is told of them.
		imp_error_free(err);
		return NULL;
	}
	sample_id_read(deferred->events, record, &id);
	struct arrival arrival = { .cookie = chain.cookie, .tid = id.has_tid ? id.tid : 0 };
	err = run_intern(deferred, &chain.chain, &arrival.run);
	struct arrival *added = err ? NULL : array_add(&deferred->arrivals);
	if (!added)
		return err ? err : &imp_error_no_memory;
	*added = arrival;
	uint32_t index = (uint32_t)deferred->arrivals.count - 1;
	bool is_in =
		table_insert(&deferred->by_cookie, cookie_hash(arrival.cookie, arrival.tid), index);
	return is_in ? NULL : &imp_error_no_memory;
}

static struct imp_error *visit(void *arg, unsigned worker, struct chunk *chunk)
{
	struct deferred_chains *deferred = arg;
	struct record record;
	struct imp_error *err = NULL;
	(void)worker;
	while (!err && chunk_next(chunk, &record)) {
		if (record.type != RECORD_CALLCHAIN_DEFERRED)
			continue;
		pthread_mutex_lock(&deferred->lock);
		err = add(deferred, &record);
		pthread_mutex_unlock(&deferred->lock);
	}
	return err;
}

struct imp_error *deferred_chains_new(struct recording *recording, const struct survey *survey,
				      struct deferred_chains **ret)
{
	*ret = NULL;
	if (!survey->records[RECORD_CALLCHAIN_DEFERRED])
		return NULL;
	struct deferred_chains *deferred = calloc(1, sizeof *deferred);
	if (!deferred)
		return &imp_error_no_memory;
	deferred->events = survey->events;
	pthread_mutex_init(&deferred->lock, NULL);
	struct imp_error *err = recording_visit(recording, visit, deferred);
	if (err)
		deferred_chains_free(deferred);
	else
		*ret = deferred;
	return err;
}

static const struct run *find(const struct deferred_chains *deferred, uint64_t cookie, uint32_t tid)
{
	uint32_t index;
	if (!deferred)
		return NULL;
	struct table_probe probe = table_probe(&deferred->by_cookie, cookie_hash(cookie, tid));
	while (table_next(&deferred->by_cookie, &probe, &index)) {
		const struct arrival *arrival = &deferred->arrivals.items[index];
		if (arrival->cookie == cookie && arrival->tid == tid)
			return &deferred->runs.items[arrival->run];
	}
	return NULL;
}

struct imp_error *deferred_chains_join(const struct deferred_chains *deferred,
				       const struct sample *sample, struct chain *chain,
				       bool *is_missing)
{
	*is_missing = false;
	if (!chain->is_deferred)
		return NULL;
	const struct run *run = find(deferred, chain->cookie, sample->has_tid ? sample->tid : 0);
	*is_missing = !run;
	if (!run)
		return NULL;
	struct words words = {
		.bytes = (const uint8_t *)(deferred->words.items + run->first),
		.count = run->count,
	};
	return chain_append(chain, &words, MISC_USER);
}
