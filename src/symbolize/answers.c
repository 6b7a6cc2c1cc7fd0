// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A table from offsets to frames, in shards so that threads seldom wait for each other.
#include "symbolize/answers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"

// Neighbouring offsets share a shard, since a thread takes neighbours one after the other.
enum { shard_count = 8, shard_shift = 12, block_frames = 128 };

struct answer {
	struct question question;
	struct frames frames;
};

struct answer_shard {
	pthread_mutex_t lock;
	struct table table;
	ARRAY_OF(struct answer) all;
	// Blocks of frames; the last is filled up to `used` of `room`.
	ARRAY_OF(struct frame *) blocks;
	size_t used, room;
};

struct answers {
	struct answer_shard shards[shard_count];
};

struct imp_error *answers_new(struct answers **ret)
{
	struct answers *answers = calloc(1, sizeof *answers);
	if (!answers)
		return &imp_error_no_memory;
	for (unsigned i = 0; i < shard_count; i++)
		pthread_mutex_init(&answers->shards[i].lock, NULL);
	*ret = answers;
	return NULL;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	for (unsigned i = 0; i < shard_count; i++) {
		struct answer_shard *shard = &answers->shards[i];
		for (size_t k = 0; k < shard->blocks.count; k++)
			free(shard->blocks.items[k]);
		array_fini(&shard->blocks);
		array_fini(&shard->all);
		table_fini(&shard->table);
		pthread_mutex_destroy(&shard->lock);
	}
	free(answers);
}

static struct answer_shard *shard_of(struct answers *answers, const struct question *question)
{
	return &answers->shards[question->value >> shard_shift & (shard_count - 1)];
}

static uint64_t hash_of(const struct question *question)
{
	return hash_mix(2U * question->is_address + question->is_return, question->value);
}

static bool same_question(const struct question *a, const struct question *b)
{
	return a->value == b->value && a->is_return == b->is_return &&
	       a->is_address == b->is_address;
}

static bool find_locked(const struct answer_shard *shard, const struct question *question,
			struct frames *ret)
{
	struct table_probe probe = table_probe(&shard->table, hash_of(question));
	uint32_t index;
	while (table_next(&shard->table, &probe, &index)) {
		const struct answer *answer = &shard->all.items[index];
		if (same_question(&answer->question, question)) {
			*ret = answer->frames;
			return true;
		}
	}
	return false;
}

bool answers_find(struct answers *answers, const struct question *question, struct frames *ret)
{
	struct answer_shard *shard = shard_of(answers, question);
	pthread_mutex_lock(&shard->lock);
	bool is_found = find_locked(shard, question, ret);
	pthread_mutex_unlock(&shard->lock);
	return is_found;
}

static struct frame *take_room(struct answer_shard *shard, uint32_t count)
{
	if (shard->room - shard->used < count) {
		size_t room = count > block_frames ? count : block_frames;
		struct frame **block = array_add(&shard->blocks);
		if (!block)
			return NULL;
		*block = malloc(room * sizeof **block);
		shard->room = *block ? room : 0;
		shard->used = 0;
		if (!*block)
			return NULL;
	}
	struct frame *frames = shard->blocks.items[shard->blocks.count - 1] + shard->used;
	shard->used += count;
	return frames;
}

static bool keep_locked(struct answer_shard *shard, const struct question *question,
			const struct frames *answer, struct frames *ret)
{
	if (find_locked(shard, question, ret))
		return true;
	struct frames kept = *answer;
	if (answer->count) {
		struct frame *frames = take_room(shard, answer->count);
		if (!frames)
			return false;
		memcpy(frames, answer->items, answer->count * sizeof *frames);
		kept.items = frames;
	}
	struct answer *added = array_add(&shard->all);
	if (!added ||
	    !table_insert(&shard->table, hash_of(question), (uint32_t)(shard->all.count - 1)))
		return false;
	*added = (struct answer){ *question, kept };
	*ret = kept;
	return true;
}

struct imp_error *answers_keep(struct answers *answers, const struct question *question,
			       const struct frames *answer, struct frames *ret)
{
	struct answer_shard *shard = shard_of(answers, question);
	pthread_mutex_lock(&shard->lock);
	bool is_kept = keep_locked(shard, question, answer, ret);
	pthread_mutex_unlock(&shard->lock);
	return is_kept ? NULL : &imp_error_no_memory;
}
