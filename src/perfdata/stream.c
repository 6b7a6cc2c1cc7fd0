// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Loads pieces of a stream.
#include "perfdata/stream.h"

#include <inttypes.h>

#include "base/file.h"

// The last record of a piece may run on behind it.
enum { ROOM_SIZE = PIECE_SIZE + RECORD_MOST_BYTES + 1 };

void stream_fini(struct stream *stream)
{
	array_fini(&stream->pieces);
}

struct imp_error *chunk_room_init(struct chunk_room *room, uint64_t span)
{
	size_t size = span < PIECE_SIZE ? (size_t)span + 1 : ROOM_SIZE;
	*room = (struct chunk_room){ .bytes = malloc(size), .size = size };
	return room->bytes ? NULL : &imp_error_no_memory;
}

struct imp_error *chunk_room_grow(struct chunk_room *room)
{
	if (room->size == ROOM_SIZE)
		return NULL;
	free(room->bytes);
	room->bytes = malloc(ROOM_SIZE);
	room->size = room->bytes ? ROOM_SIZE : 0;
	return room->bytes ? NULL : &imp_error_no_memory;
}

void chunk_room_fini(struct chunk_room *room)
{
	free(room->bytes);
	array_fini(&room->parts);
	*room = (struct chunk_room){ 0 };
}

struct imp_error *stream_load(const struct stream *stream, uint64_t start, uint64_t limit,
			      struct chunk_room *room, struct chunk *ret)
{
	if (limit > stream->end)
		limit = stream->end;
	uint64_t size = stream->end - start;
	if (size > limit - start + RECORD_MOST_BYTES)
		size = limit - start + RECORD_MOST_BYTES;
	size_t got = 0;
	struct imp_error *err = file_pread(stream->input->fd, stream->input->path, room->bytes,
					   (size_t)size, start, &got);
	if (err)
		return err;
	*ret = (struct chunk){
		.bytes = room->bytes,
		.size = got,
		.limit = (size_t)(limit - start) < got ? (size_t)(limit - start) : got,
		.offset = start,
		.position = stream->first_position + start,
		.swap = stream->swap,
	};
	return NULL;
}

void stream_warn_of_stop(const struct stream *stream, const struct chunk *chunk,
			 struct warnings *warnings)
{
	uint64_t offset = chunk_offset(chunk);
	if (chunk->stop == CHUNK_BAD_SIZE)
		warnings_add(warnings,
			     "%s: damaged at offset %" PRIu64 ": a record of less than %d bytes; "
			     "the %" PRIu64 " bytes from there on are left out",
			     stream->input->path, offset, RECORD_HEADER_SIZE, stream->end - offset);
	else if (chunk->stop == CHUNK_TRUNCATED)
		warnings_add(warnings,
			     "%s: the record at offset %" PRIu64 " is cut off: %" PRIu64
			     " bytes are left out",
			     stream->input->path, offset, stream->end - offset);
}
