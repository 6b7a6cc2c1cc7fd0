// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "unit/perfdata/read_back.h"

#include <pthread.h>

#include "harness/tap.h"
#include "make/recording.h"

struct kept_chunk {
	ARRAY_OF(struct kept_record) records;
};

static struct imp_error *keep_records(void *arg, struct chunk *chunk, void **result)
{
	(void)arg;
	struct kept_chunk *kept = calloc(1, sizeof *kept);
	if (!kept)
		return &imp_error_no_memory;
	*result = kept;
	struct record record;
	while (chunk_next(chunk, &record)) {
		struct kept_record *item = array_add(&kept->records);
		if (!item)
			return &imp_error_no_memory;
		item->record = record;
		item->bytes = malloc(record.size);
		if (!item->bytes)
			return &imp_error_no_memory;
		memcpy(item->bytes, record.bytes, record.size);
		item->record.bytes = item->bytes;
	}
	return NULL;
}

static struct imp_error *commit_records(void *arg, void *result)
{
	struct read_back *back = arg;
	struct kept_chunk *kept = result;
	for (size_t i = 0; i < kept->records.count; i++) {
		struct kept_record *item = array_add(back);
		if (!item)
			return &imp_error_no_memory;
		*item = kept->records.items[i];
		if (item->record.type < 128)
			back->by_type[item->record.type]++;
	}
	array_fini(&kept->records);
	free(kept);
	return NULL;
}

static void discard_records(void *arg, void *result)
{
	struct read_back *back = arg;
	struct kept_chunk *kept = result;
	for (size_t i = 0; i < kept->records.count; i++)
		free(kept->records.items[i].bytes);
	array_fini(&kept->records);
	free(kept);
	back->discarded++;
}

struct imp_error *read_back_path(const char *path, unsigned workers, struct read_back *ret)
{
	static const struct scan keeping = { keep_records, commit_records, discard_records };
	struct recording_options options = { .workers = workers };
	*ret = (struct read_back){ 0 };
	struct imp_error *err = recording_open(path, &options, &ret->recording);
	return err ? err : recording_scan(ret->recording, &keeping, ret);
}

struct imp_error *read_back(const struct buffer *bytes, struct read_back *ret)
{
	char *path = built_file(bytes);
	struct imp_error *err = read_back_path(path, 1, ret);
	built_file_remove(path);
	return err;
}

void read_back_fini(struct read_back *back)
{
	for (size_t i = 0; i < back->count; i++)
		free(back->items[i].bytes);
	free(back->items);
	recording_close(back->recording);
}

const char *read_back_warning(const struct read_back *back, size_t index)
{
	const char *warning = recording_warning(back->recording, index);
	// Without the path of the temporary file.
	const char *colon = warning ? strstr(warning, ": ") : NULL;
	return colon && warning[0] == '/' ? colon + 2 : warning;
}

struct comparison {
	const struct read_back *back;
	pthread_mutex_t lock;
	size_t seen;
	bool differs;
};

static const struct kept_record *find_position(const struct read_back *back, uint64_t position)
{
	size_t low = 0, high = back->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (back->items[middle].record.position < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < back->count ? &back->items[low] : NULL;
}

static struct imp_error *compare_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct comparison *comparison = arg;
	size_t seen = 0;
	bool differs = worker >= recording_workers(comparison->back->recording);
	struct record record;
	for (; chunk_next(chunk, &record); seen++) {
		const struct kept_record *kept = find_position(comparison->back, record.position);
		differs = differs || !kept || kept->record.position != record.position ||
			  kept->record.offset != record.offset ||
			  kept->record.size != record.size ||
			  memcmp(kept->bytes, record.bytes, record.size) != 0;
	}
	pthread_mutex_lock(&comparison->lock);
	comparison->seen += seen;
	comparison->differs = comparison->differs || differs;
	pthread_mutex_unlock(&comparison->lock);
	return NULL;
}

bool read_back_visits_the_same(struct read_back *back)
{
	struct comparison comparison = { .back = back };
	for (size_t i = 1; i < back->count; i++)
		if (back->items[i].record.position <= back->items[i - 1].record.position)
			return false;
	pthread_mutex_init(&comparison.lock, NULL);
	struct imp_error *err = recording_visit(back->recording, compare_chunk, &comparison);
	pthread_mutex_destroy(&comparison.lock);
	bool is_same = !err && !comparison.differs && comparison.seen == back->count;
	imp_error_free(err);
	return is_same;
}
