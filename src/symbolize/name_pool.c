// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A table of names by their pointers, in shards so that threads seldom wait for each other.
#include "symbolize/name_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"
#include "symbolize/demangle.h"

enum { shard_count = 16 };

struct pooled_name {
	const char *name;
	// NULL when the name is its own demangled form.
	char *demangled;
};

struct name_shard {
	pthread_mutex_t lock;
	struct table table;
	ARRAY_OF(struct pooled_name) names;
};

struct name_pool {
	struct name_shard shards[shard_count];
};

struct imp_error *name_pool_new(struct name_pool **ret)
{
	struct name_pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		return &imp_error_no_memory;
	for (unsigned i = 0; i < shard_count; i++)
		pthread_mutex_init(&pool->shards[i].lock, NULL);
	*ret = pool;
	return NULL;
}

void name_pool_free(struct name_pool *pool)
{
	if (!pool)
		return;
	for (unsigned i = 0; i < shard_count; i++) {
		struct name_shard *shard = &pool->shards[i];
		for (size_t k = 0; k < shard->names.count; k++)
			free(shard->names.items[k].demangled);
		array_fini(&shard->names);
		table_fini(&shard->table);
		pthread_mutex_destroy(&shard->lock);
	}
	free(pool);
}

static struct imp_error *find_or_add(struct name_shard *shard, uint64_t hash, const char *name,
				     const char **ret)
{
	struct table_probe probe = table_probe(&shard->table, hash);
	uint32_t index;
	while (table_next(&shard->table, &probe, &index)) {
		const struct pooled_name *known = &shard->names.items[index];
		if (known->name == name) {
			*ret = known->demangled ? known->demangled : name;
			return NULL;
		}
	}
	struct pooled_name fresh = { .name = name };
	struct imp_error *err = demangle(name, &fresh.demangled);
	if (err)
		return err;
	struct pooled_name *added = array_add(&shard->names);
	if (!added || !table_insert(&shard->table, hash, (uint32_t)(shard->names.count - 1))) {
		free(fresh.demangled);
		return &imp_error_no_memory;
	}
	*added = fresh;
	*ret = fresh.demangled ? fresh.demangled : name;
	return NULL;
}

struct imp_error *name_pool_demangle(struct name_pool *pool, const char *name, const char **ret)
{
	// Most names of C are not mangled, which the first letter tells.
	if (name[0] != '_') {
		*ret = name;
		return NULL;
	}
	uint64_t hash = hash_mix(0, (uintptr_t)name);
	struct name_shard *shard = &pool->shards[hash >> 40 & (shard_count - 1)];
	pthread_mutex_lock(&shard->lock);
	struct imp_error *err = find_or_add(shard, hash, name, ret);
	pthread_mutex_unlock(&shard->lock);
	return err;
}
