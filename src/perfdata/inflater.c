// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Inflates compressed records, piece by piece, in bounded memory.
#include "perfdata/inflater.h"

#include <inttypes.h>
#include <zstd.h>

#include "base/file.h"

enum {
	WINDOW_SIZE = 1 << 20,
	// perf's levels up to 22 use windows of up to 128 MiB.
	WINDOW_LOG_MOST = 27,
	// No step begins with less room than for a carried record and a zstd block.
	ROOM_LEAST = RECORD_MOST_BYTES + 1 + (128 << 10),
	// A compressed record is at most 64 KiB, and perf fills it from a ring of a few MiB: one
	// that inflates to more than this is a bomb.
	INFLATED_MOST = 256 << 20,
	// The largest payload of a COMPRESSED2 whose own size did not fit its size field.
	COMPRESSED2_MOST = 65519,
};

struct inflater {
	const struct stream *stream;
	struct warnings *warnings;
	ZSTD_DStream *zstd;
	// Bytes [window_start, window_start + window_size) of the file.
	uint8_t *window;
	uint64_t window_start;
	size_t window_size;
	// The next record; with `input_left`, the record being inflated is at `container`.
	uint64_t at;
	uint64_t container;
	uint64_t input_at;
	size_t input_left;
	// zstd may still hold output of input it has taken.
	bool has_pending_output;
	uint64_t container_output;
	// The beginning of a record whose end comes out of the next compressed record.
	uint8_t carry[RECORD_MOST_BYTES];
	size_t carry_size;
	uint64_t position;
	// The zstd stream is damaged: what else is compressed is lost.
	bool is_poisoned;
	bool is_done;
	struct inflater_counts counts;
};

// The chunk being filled.
struct filling {
	struct chunk_room *room;
	size_t used;
};

struct imp_error *inflater_new(const struct stream *stream, struct warnings *warnings,
			       struct inflater **ret)
{
	struct inflater *inflater = calloc(1, sizeof *inflater);
	if (!inflater)
		return &imp_error_no_memory;
	inflater->stream = stream;
	inflater->warnings = warnings;
	inflater->at = stream->compressed_at;
	inflater->position = stream->first_position + stream->compressed_at;
	inflater->window = malloc(WINDOW_SIZE);
	inflater->zstd = ZSTD_createDStream();
	if (!inflater->window || !inflater->zstd) {
		inflater_free(inflater);
		return &imp_error_no_memory;
	}
	ZSTD_DCtx_setParameter(inflater->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MOST);
	*ret = inflater;
	return NULL;
}

void inflater_free(struct inflater *inflater)
{
	if (!inflater)
		return;
	ZSTD_freeDStream(inflater->zstd);
	free(inflater->window);
	free(inflater);
}

uint64_t inflater_offset(const struct inflater *inflater)
{
	return inflater->at;
}

struct inflater_counts inflater_counts(const struct inflater *inflater)
{
	return inflater->counts;
}

// Lends SIZE bytes at OFFSET, fewer (*got) at the stream's end. SIZE is at most WINDOW_SIZE.
static struct imp_error *look_at(struct inflater *inflater, uint64_t offset, size_t size,
				 const uint8_t **bytes, size_t *got)
{
	uint64_t end = inflater->window_start + inflater->window_size;
	if (offset < inflater->window_start || offset + size > end) {
		uint64_t left = inflater->stream->end - offset;
		size_t want = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;
		struct imp_error *err = file_pread(inflater->stream->input->fd,
						   inflater->stream->input->path, inflater->window,
						   want, offset, &inflater->window_size);
		if (err)
			return err;
		inflater->window_start = offset;
	}
	size_t there = (size_t)(inflater->window_start + inflater->window_size - offset);
	*bytes = inflater->window + (offset - inflater->window_start);
	*got = size < there ? size : there;
	return NULL;
}

static struct imp_error *add_part(struct filling *filling, struct chunk_part part)
{
	struct chunk_part *added = array_add(&filling->room->parts);
	if (!added)
		return &imp_error_no_memory;
	*added = part;
	return NULL;
}

static void poison(struct inflater *inflater, const char *why)
{
	inflater->is_poisoned = true;
	inflater->input_left = 0;
	inflater->has_pending_output = false;
	inflater->carry_size = 0;
	warnings_add(inflater->warnings,
		     "%s: the compressed record at offset %" PRIu64
		     " is damaged (%s): it and all compressed ones after it are left out",
		     inflater->stream->input->path, inflater->container, why);
}

// One call of zstd, to the end of the filling. True while there is more for it to do.
static bool inflate_step(struct inflater *inflater, struct filling *filling, const uint8_t *input,
			 size_t input_size)
{
	ZSTD_inBuffer in = { input, input_size, 0 };
	ZSTD_outBuffer out = { filling->room->bytes, filling->room->size, filling->used };
	size_t result = ZSTD_decompressStream(inflater->zstd, &out, &in);
	if (ZSTD_isError(result)) {
		poison(inflater, ZSTD_getErrorName(result));
		return false;
	}
	inflater->container_output += out.pos - filling->used;
	inflater->has_pending_output = out.pos == out.size;
	bool has_moved = in.pos || out.pos != filling->used;
	filling->used = out.pos;
	inflater->input_at += in.pos;
	inflater->input_left -= in.pos;
	if (inflater->container_output > INFLATED_MOST) {
		poison(inflater, "it inflates to more than 256 MiB");
		return false;
	}
	if (!has_moved && inflater->input_left) {
		poison(inflater, "it is not all of one zstd stream");
		return false;
	}
	return inflater->input_left && filling->used < filling->room->size;
}

// Cuts the bytes from START on into whole records, and keeps what is left for the next time.
static void keep_whole_records(struct inflater *inflater, struct filling *filling, size_t start)
{
	struct chunk walk = {
		.bytes = filling->room->bytes,
		.size = filling->used,
		.at = start,
		.limit = filling->used,
		.swap = inflater->stream->swap,
		.is_inflated = true,
	};
	struct record record;
	while (chunk_next(&walk, &record))
		;
	if (walk.stop == CHUNK_BAD_SIZE) {
		poison(inflater, "a record in it has less than 8 bytes");
		filling->used = walk.at;
		return;
	}
	if (!inflater->is_poisoned) {
		inflater->carry_size = filling->used - walk.at;
		memcpy(inflater->carry, filling->room->bytes + walk.at, inflater->carry_size);
	}
	filling->used = walk.at;
}

// Goes on with the record being inflated, as far as there is room.
static struct imp_error *inflate(struct inflater *inflater, struct filling *filling)
{
	size_t start = filling->used;
	memcpy(filling->room->bytes + start, inflater->carry, inflater->carry_size);
	filling->used += inflater->carry_size;
	inflater->carry_size = 0;
	bool has_more = true;
	while (has_more) {
		const uint8_t *input = NULL;
		size_t got = 0;
		struct imp_error *err =
			look_at(inflater, inflater->input_at, inflater->input_left, &input, &got);
		if (err)
			return err;
		if (got < inflater->input_left)
			inflater->input_left = got;
		has_more = inflate_step(inflater, filling, input, inflater->input_left);
	}
	keep_whole_records(inflater, filling, start);
	if (filling->used == start)
		return NULL;
	inflater->counts.inflated_bytes += filling->used - start;
	return add_part(filling, (struct chunk_part){ .at = start,
						      .limit = filling->used,
						      .offset = inflater->container,
						      .is_inflated = true });
}

static uint64_t read_u64(const uint8_t *bytes, bool swap)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof value);
	return swap ? __builtin_bswap64(value) : value;
}

// What a compressed record holds, and how many bytes of the file it takes.
struct container {
	size_t payload_at, payload_size;
	uint64_t size;
};

static struct container measure_container(const struct record *header, const uint8_t *bytes,
					  size_t got)
{
	if (header->type == RECORD_COMPRESSED || got < 16)
		return (struct container){ 8, header->size - 8u, header->size };
	// perf since 6.16 lets the size field overflow when the record reaches 64 KiB: then the
	// payload's own size is the right one. It may also leave that one unset in later records of
	// a write; then the size field is right.
	uint64_t data_size = read_u64(bytes + 8, header->swap);
	uint64_t whole = (16 + data_size + 7) & ~UINT64_C(7);
	if (data_size <= COMPRESSED2_MOST && header->size < 16 + data_size)
		return (struct container){ 16, (size_t)data_size, whole };
	if (header->size < 16)
		return (struct container){ 8, 0, header->size };
	size_t room = header->size - 16u;
	return (struct container){ 16, data_size < room ? (size_t)data_size : room, header->size };
}

static void begin_container(struct inflater *inflater, const struct record *header,
			    const uint8_t *bytes, size_t got)
{
	struct container container = measure_container(header, bytes, got);
	inflater->container = inflater->at;
	uint64_t left = inflater->stream->end - inflater->at;
	if (container.size < RECORD_HEADER_SIZE) {
		warnings_add(inflater->warnings,
			     "%s: damaged at offset %" PRIu64
			     ": a compressed record without a size; the rest is left out",
			     inflater->stream->input->path, inflater->at);
		inflater->is_done = true;
		return;
	}
	if (container.size > left) {
		warnings_add(inflater->warnings,
			     "%s: the compressed record at offset %" PRIu64
			     " is cut off: what there is of it is read",
			     inflater->stream->input->path, inflater->at);
		uint64_t most = left < container.payload_at ? 0 : left - container.payload_at;
		if (container.payload_size > most)
			container.payload_size = (size_t)most;
		container.size = left;
	}
	inflater->counts.records++;
	inflater->counts.bytes += container.size;
	inflater->container_output = 0;
	inflater->input_at = inflater->at + container.payload_at;
	inflater->input_left = inflater->is_poisoned ? 0 : container.payload_size;
	inflater->at += container.size;
}

// Copies the raw record in CHUNK, a look at the file, to the filling.
static struct imp_error *copy_raw(struct inflater *inflater, struct filling *filling,
				  struct chunk *chunk)
{
	struct record record;
	if (!chunk_next(chunk, &record)) {
		stream_warn_of_stop(inflater->stream, chunk, inflater->warnings);
		inflater->is_done = true;
		return NULL;
	}
	memcpy(filling->room->bytes + filling->used, record.bytes, record.size);
	struct chunk_part part = { .at = filling->used,
				   .limit = filling->used + record.size,
				   .offset = inflater->at };
	filling->used += record.size;
	uint64_t left = inflater->stream->end - inflater->at;
	if (chunk->at > left)
		warnings_add(inflater->warnings,
			     "%s: the payload of the record at offset %" PRIu64
			     " runs past the end of the file",
			     inflater->stream->input->path, inflater->at);
	inflater->at += chunk->at < left ? chunk->at : left;
	return add_part(filling, part);
}

static struct imp_error *take_record(struct inflater *inflater, struct filling *filling)
{
	const uint8_t *bytes = NULL;
	size_t got = 0;
	struct imp_error *err =
		look_at(inflater, inflater->at, RECORD_MOST_BYTES + 1, &bytes, &got);
	if (err)
		return err;
	struct chunk chunk = {
		.bytes = bytes,
		.size = got,
		.limit = got,
		.offset = inflater->at,
		.swap = inflater->stream->swap,
	};
	if (got >= RECORD_HEADER_SIZE) {
		struct record header = chunk_header(&chunk);
		if (header.type == RECORD_COMPRESSED || header.type == RECORD_COMPRESSED2) {
			begin_container(inflater, &header, bytes, got);
			return NULL;
		}
	}
	return copy_raw(inflater, filling, &chunk);
}

static void warn_of_carry(struct inflater *inflater)
{
	if (inflater->carry_size)
		warnings_add(inflater->warnings,
			     "%s: the last record in compressed data is cut off: %zu bytes are "
			     "left out",
			     inflater->stream->input->path, inflater->carry_size);
	inflater->carry_size = 0;
}

struct imp_error *inflater_next(struct inflater *inflater, struct chunk_room *room,
				struct chunk *ret, bool *has_more)
{
	struct filling filling = { .room = room };
	struct imp_error *err = NULL;
	room->parts.count = 0;
	while (!err && !inflater->is_done && room->size - filling.used >= ROOM_LEAST) {
		if (inflater->input_left || inflater->has_pending_output)
			err = inflate(inflater, &filling);
		else if (inflater->at < inflater->stream->end)
			err = take_record(inflater, &filling);
		else
			inflater->is_done = true;
	}
	if (err)
		return err;
	if (inflater->is_done)
		warn_of_carry(inflater);
	*has_more = filling.used != 0;
	*ret = (struct chunk){
		.bytes = room->bytes,
		.size = filling.used,
		.position = inflater->position,
		.parts = room->parts.items,
		.part_count = room->parts.count,
		.swap = inflater->stream->swap,
	};
	inflater->position += filling.used;
	return NULL;
}
