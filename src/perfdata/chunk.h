// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A run of whole records in memory, and the step from one to the next.
#ifndef PERFDATA_CHUNK_H
#define PERFDATA_CHUNK_H

#include <stddef.h>

#include "perfdata/record.h"

// Why there is no further record in a chunk.
enum chunk_stop {
	// The next record begins at or after `limit`: another chunk has it.
	CHUNK_END,
	// Here stands a compressed record, which chunks of raw records end before.
	CHUNK_AT_COMPRESSED,
	// Here stands a size below 8: no record, and no telling where the next one is.
	CHUNK_BAD_SIZE,
	// The record here is longer than what there is.
	CHUNK_TRUNCATED,
};

// Records of one kind within a chunk that has several.
struct chunk_part {
	// Where in the chunk it begins and ends.
	size_t at, limit;
	// Of its first byte, or of the compressed record it came out of.
	uint64_t offset;
	bool is_inflated;
};

// Iterate with chunk_next().
struct chunk {
	const uint8_t *bytes;
	size_t size;
	// Where the next record begins: after the last record, where the first of the next chunk
	// does. May lie beyond `size`.
	size_t at;
	// Records that begin here or later are not this chunk's.
	size_t limit;
	// Where in the file bytes[0] stands; for inflated records, where their compressed one does.
	uint64_t offset;
	uint64_t position;
	// Parts after the one being read.
	const struct chunk_part *parts;
	size_t part_count;
	bool swap;
	// The records come out of a compressed record at `offset`.
	bool is_inflated;
	enum chunk_stop stop;
};

// The rest of chunk_next() for what is rare: see there.
bool chunk_next_part(struct chunk *chunk);
bool chunk_stop_at(struct chunk *chunk, uint32_t size, size_t left);
bool chunk_step_special(struct chunk *chunk, const struct record *record);

// The header at chunk->at, where there must be 8 bytes; no judgement of it.
static inline struct record chunk_header(const struct chunk *chunk)
{
	struct record record = {
		.bytes = chunk->bytes + chunk->at,
		.swap = chunk->swap,
		.offset = chunk->is_inflated ? chunk->offset : chunk->offset + chunk->at,
		.position = chunk->position + chunk->at,
	};
	uint64_t header;
	memcpy(&header, record.bytes, sizeof header);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	record.type = (uint32_t)header;
	record.misc = (uint16_t)(header >> 32);
	record.size = (uint32_t)(header >> 48);
#else
	record.type = (uint32_t)(header >> 32);
	record.misc = (uint16_t)(header >> 16);
	record.size = (uint32_t)(header & 0xffff);
#endif
	if (__builtin_expect(chunk->swap, 0)) {
		record.type = __builtin_bswap32(record.type);
		record.misc = __builtin_bswap16(record.misc);
		record.size = __builtin_bswap16((uint16_t)record.size);
	}
	return record;
}

// The next record; false at the end of the chunk. Payloads outside of records (AUXTRACE,
// TRACING_DATA) are stepped over.
static inline bool chunk_next(struct chunk *chunk, struct record *ret)
{
	if (__builtin_expect(chunk->at >= chunk->limit, 0) && !chunk_next_part(chunk))
		return false;
	size_t left = chunk->size - chunk->at;
	if (__builtin_expect(left < RECORD_HEADER_SIZE, 0))
		return chunk_stop_at(chunk, 0, left);
	*ret = chunk_header(chunk);
	if (__builtin_expect(ret->type >= RECORD_FIRST_SYNTHETIC, 0))
		return chunk_step_special(chunk, ret);
	if (__builtin_expect(ret->size < RECORD_HEADER_SIZE || ret->size > left, 0))
		return chunk_stop_at(chunk, ret->size, left);
	chunk->at += ret->size;
	return true;
}

#endif
