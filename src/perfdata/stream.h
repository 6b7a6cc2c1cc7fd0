// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A stretch of records in a file: the data section, a whole pipe, or a file of a directory.
#ifndef PERFDATA_STREAM_H
#define PERFDATA_STREAM_H

#include "perfdata/chunk.h"
#include "perfdata/input.h"
#include "perfdata/warnings.h"

// Raw records are read in pieces of this many bytes of the file; small enough for a processor's
// cache.
enum { PIECE_SIZE = 1 << 20 };

#define NOWHERE UINT64_MAX

// Raw records that begin in [start, end).
struct piece {
	uint64_t start, end;
};

struct stream {
	const struct input *input;
	uint64_t start, end;
	// What is added to an offset to make a position.
	uint64_t first_position;
	bool swap;
	// Pieces begin on this offset modulo 8 as far as is known: where records do.
	uint8_t alignment;
	// Found by the first pass: the raw records, and where the first compressed one stands
	// (NOWHERE without one); all that follows it is read in order, by an inflater.
	ARRAY_OF(struct piece) pieces;
	uint64_t compressed_at;
	bool is_scanned;
	// Counted by the first pass.
	uint64_t compressed_records, compressed_bytes, inflated_bytes;
};

void stream_fini(struct stream *stream);

// Memory for the bytes of one chunk at a time.
struct chunk_room {
	uint8_t *bytes;
	size_t size;
	ARRAY_OF(struct chunk_part) parts;
};

// Room for a piece of at most SPAN bytes of a file, or for all when that is less.
struct imp_error *chunk_room_init(struct chunk_room *room, uint64_t span) MUST_CHECK;
// Makes ROOM large enough for an inflater.
struct imp_error *chunk_room_grow(struct chunk_room *room) MUST_CHECK;
void chunk_room_fini(struct chunk_room *room);

// Reads the raw records that begin in [START, LIMIT), of which START must be the first, into ROOM.
// LIMIT - START is at most PIECE_SIZE.
struct imp_error *stream_load(const struct stream *stream, uint64_t start, uint64_t limit,
			      struct chunk_room *room, struct chunk *ret) MUST_CHECK;

// Where a loaded CHUNK's reading stands, as an offset of the file.
static inline uint64_t chunk_offset(const struct chunk *chunk)
{
	return chunk->offset + chunk->at;
}

// Adds the warning for a chunk that ended by damage.
void stream_warn_of_stop(const struct stream *stream, const struct chunk *chunk,
			 struct warnings *warnings);

#endif
