// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The rare steps of walking records: ends, damage, payloads outside of records.
#include "perfdata/chunk.h"

bool chunk_next_part(struct chunk *chunk)
{
	while (chunk->part_count) {
		const struct chunk_part *part = chunk->parts++;
		chunk->part_count--;
		chunk->at = part->at;
		chunk->limit = part->limit;
		chunk->is_inflated = part->is_inflated;
		chunk->offset = part->is_inflated ? part->offset : part->offset - part->at;
		if (chunk->at < chunk->limit)
			return true;
	}
	return false;
}

bool chunk_stop_at(struct chunk *chunk, uint32_t size, size_t left)
{
	bool is_bad = left >= RECORD_HEADER_SIZE && size < RECORD_HEADER_SIZE;
	chunk->stop = is_bad ? CHUNK_BAD_SIZE : CHUNK_TRUNCATED;
	// Nothing after this can be read.
	chunk->limit = 0;
	chunk->part_count = 0;
	return false;
}

// Bytes of payload behind RECORD that its size does not count.
static uint64_t payload_size(const struct record *record)
{
	struct cursor body = record_body(record);
	if (record->type == RECORD_AUXTRACE)
		return cursor_u64(&body);
	if (record->type != RECORD_HEADER_TRACING_DATA)
		return 0;
	// perf writes it behind the record; simpleperf once had it within.
	uint64_t size = cursor_u32(&body);
	return size <= cursor_left(&body) ? 0 : (size + 7) & ~UINT64_C(7);
}

bool chunk_step_special(struct chunk *chunk, const struct record *record)
{
	size_t left = chunk->size - chunk->at;
	bool is_compressed = record->type == RECORD_COMPRESSED ||
			     record->type == RECORD_COMPRESSED2;
	if (is_compressed && !chunk->is_inflated) {
		chunk->stop = CHUNK_AT_COMPRESSED;
		chunk->limit = 0;
		chunk->part_count = 0;
		return false;
	}
	if (record->size < RECORD_HEADER_SIZE || record->size > left)
		return chunk_stop_at(chunk, record->size, left);
	chunk->at += record->size;
	uint64_t payload = chunk->is_inflated ? 0 : payload_size(record);
	if (payload > SIZE_MAX / 2 - chunk->at)
		chunk->at = SIZE_MAX / 2;
	else
		chunk->at += (size_t)payload;
	return true;
}
