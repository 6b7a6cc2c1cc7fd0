// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The first pass: pieces are read ahead from guessed boundaries, and committed in order once the
// piece before has shown where they really begin.
#include "perfdata/scan.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/parallel.h"
#include "perfdata/guess.h"
#include "perfdata/inflater.h"

// Results waiting for their turn; a worker that is further ahead waits. More would not be quicker,
// and of many short processes each result is as large as its chunk.
enum { SLOTS = 8 };

// One chunk that was read.
struct slot {
	bool is_filled;
	void *result;
	struct imp_error *error;
	// The chunk after reading, which tells where and why it ended. Its bytes are gone.
	struct chunk chunk;
	// Where it began in the file (NOWHERE: it was not read), and where its piece ends.
	uint64_t start, limit;
};

struct scan_run {
	struct stream *stream;
	struct scan_context *context;
	// NULL when the stream was scanned before, and all was said.
	struct warnings *warnings;
	const struct scan *scan;
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t has_moved;
	struct slot slots[SLOTS];
	// The next slot to commit.
	size_t committed;
	bool is_committing;
	atomic_bool has_failed;
	// Where the next raw record begins for certain, while not ended.
	uint64_t boundary;
	atomic_bool is_ended;
	struct chunk_room *rooms;
	// Of the second half, compressed records.
	struct inflater *inflater;
	size_t inflated_chunks;
	bool is_inflated;
	pthread_mutex_t inflater_lock;
};

static void slot_drop(struct scan_run *run, struct slot *slot)
{
	if (slot->result)
		run->scan->discard(run->arg, slot->result);
	imp_error_free(slot->error);
	*slot = (struct slot){ 0 };
}

static void slot_read(struct scan_run *run, struct slot *slot)
{
	slot->error = run->scan->read(run->arg, &slot->chunk, &slot->result);
	struct record record;
	while (!slot->error && chunk_next(&slot->chunk, &record))
		;
}

static struct imp_error *slot_commit(struct scan_run *run, struct slot *slot)
{
	struct imp_error *err = slot->error;
	slot->error = NULL;
	if (!err && slot->result) {
		err = run->scan->commit(run->arg, slot->result);
		slot->result = NULL;
	}
	return err;
}

static struct imp_error *load_again(struct scan_run *run, struct slot *slot,
				    struct chunk_room *room)
{
	uint64_t limit = slot->limit;
	slot_drop(run, slot);
	slot->start = run->boundary;
	slot->limit = limit;
	struct imp_error *err =
		stream_load(run->stream, slot->start, slot->limit, room, &slot->chunk);
	if (!err)
		slot_read(run, slot);
	return err;
}

// Notes where the committed piece SLOT really ended.
static struct imp_error *move_boundary(struct scan_run *run, const struct slot *slot)
{
	struct stream *stream = run->stream;
	uint64_t offset = chunk_offset(&slot->chunk);
	struct piece *piece = array_add(&stream->pieces);
	if (!piece)
		return &imp_error_no_memory;
	*piece = (struct piece){ slot->start, slot->limit };
	run->boundary = offset;
	if (slot->chunk.stop == CHUNK_END) {
		if (offset > stream->end)
			warnings_add(
				run->warnings,
				"%s: the payload of the last record runs past the end, %" PRIu64
				", to offset %" PRIu64,
				stream->input->path, stream->end, offset);
		return NULL;
	}
	piece->end = offset;
	run->is_ended = true;
	if (slot->chunk.stop == CHUNK_AT_COMPRESSED)
		stream->compressed_at = offset;
	else
		stream_warn_of_stop(stream, &slot->chunk, run->warnings);
	return NULL;
}

static struct imp_error *commit_raw(struct scan_run *run, struct slot *slot,
				    struct chunk_room *room)
{
	struct imp_error *err = NULL;
	// Nothing begins in this piece.
	if (run->is_ended || slot->limit <= run->boundary) {
		slot_drop(run, slot);
		return NULL;
	}
	if (slot->start != run->boundary)
		err = load_again(run, slot, room);
	if (!err && !slot->error)
		err = move_boundary(run, slot);
	if (!err)
		err = slot_commit(run, slot);
	run->context->done += PIECE_SIZE;
	return err;
}

// Lets nobody wait any more for what will not come. Passes ERROR on.
static struct imp_error *fail(struct scan_run *run, struct imp_error *error)
{
	run->has_failed = true;
	pthread_cond_broadcast(&run->has_moved);
	return error;
}

// Commits what is ready, in order. Called and left with the lock held.
static struct imp_error *commit_ready(struct scan_run *run, struct chunk_room *room)
{
	struct imp_error *err = NULL;
	run->is_committing = true;
	while (!err && run->slots[run->committed % SLOTS].is_filled) {
		struct slot *slot = &run->slots[run->committed % SLOTS];
		pthread_mutex_unlock(&run->lock);
		err = run->is_inflated ? slot_commit(run, slot) : commit_raw(run, slot, room);
		log_progress(run->context->log, "bytes of records read",
			     run->context->done < run->context->total ? run->context->done
								      : run->context->total,
			     run->context->total);
		pthread_mutex_lock(&run->lock);
		slot_drop(run, slot);
		run->committed++;
		pthread_cond_broadcast(&run->has_moved);
	}
	run->is_committing = false;
	return err;
}

// Puts SLOT, which it takes, in its turn, and commits what is ready.
static struct imp_error *hand_in(struct scan_run *run, size_t number, struct slot *slot,
				 struct chunk_room *room)
{
	struct imp_error *err = NULL;
	pthread_mutex_lock(&run->lock);
	while (number - run->committed >= SLOTS && !run->has_failed)
		pthread_cond_wait(&run->has_moved, &run->lock);
	if (run->has_failed) {
		slot_drop(run, slot);
	} else {
		slot->is_filled = true;
		run->slots[number % SLOTS] = *slot;
		if (!run->is_committing)
			err = commit_ready(run, room);
		if (err)
			err = fail(run, err);
	}
	pthread_mutex_unlock(&run->lock);
	return err;
}

static struct imp_error *fail_unlocked(struct scan_run *run, struct imp_error *error)
{
	pthread_mutex_lock(&run->lock);
	error = fail(run, error);
	pthread_mutex_unlock(&run->lock);
	return error;
}

// Where piece NUMBER, which begins at START, has its first record: for certain when all before it
// is committed, else as guessed.
static struct imp_error *load_piece(struct scan_run *run, size_t number, uint64_t start,
				    struct slot *slot, struct chunk_room *room)
{
	pthread_mutex_lock(&run->lock);
	bool is_certain = run->committed == number;
	// Nobody moves it before this piece is handed in.
	uint64_t boundary = is_certain ? run->boundary : 0;
	bool is_ended = run->is_ended || run->has_failed;
	pthread_mutex_unlock(&run->lock);
	slot->start = NOWHERE;
	if (is_ended || (is_certain && boundary >= slot->limit))
		return NULL;
	uint64_t from = is_certain ? boundary : start;
	struct imp_error *err = stream_load(run->stream, from, slot->limit, room, &slot->chunk);
	if (err)
		return err;
	slot->start = from;
	if (is_certain)
		return NULL;
	size_t first = guess_first_record(&slot->chunk, run->stream->alignment);
	slot->start = first == SIZE_MAX ? NOWHERE : from + first;
	slot->chunk.at = first == SIZE_MAX ? 0 : first;
	return NULL;
}

static struct imp_error *scan_piece(void *arg, unsigned worker, size_t number)
{
	struct scan_run *run = arg;
	struct chunk_room *room = &run->rooms[worker];
	uint64_t start = run->stream->start + (uint64_t)number * PIECE_SIZE;
	struct slot slot = { .limit = start + PIECE_SIZE };
	if (slot.limit > run->stream->end)
		slot.limit = run->stream->end;
	struct imp_error *err = load_piece(run, number, start, &slot, room);
	if (err)
		return fail_unlocked(run, err);
	if (slot.start != NOWHERE)
		slot_read(run, &slot);
	return hand_in(run, number, &slot, room);
}

static struct imp_error *scan_inflated(void *arg, unsigned worker, size_t piece)
{
	(void)piece;
	struct scan_run *run = arg;
	struct chunk_room *room = &run->rooms[worker];
	for (;;) {
		struct slot slot = { 0 };
		bool has_more = false;
		pthread_mutex_lock(&run->inflater_lock);
		struct imp_error *err = run->has_failed ? NULL
							: inflater_next(run->inflater, room,
									&slot.chunk, &has_more);
		size_t number = run->inflated_chunks;
		run->inflated_chunks += has_more;
		pthread_mutex_unlock(&run->inflater_lock);
		if (err)
			return fail_unlocked(run, err);
		if (!has_more)
			return NULL;
		slot_read(run, &slot);
		err = hand_in(run, number, &slot, room);
		if (err)
			return err;
	}
}

static struct imp_error *scan_compressed(struct scan_run *run)
{
	struct stream *stream = run->stream;
	struct imp_error *err = inflater_new(stream, run->warnings, &run->inflater);
	if (err)
		return err;
	run->is_inflated = true;
	run->committed = 0;
	for (unsigned i = 0; !err && i < run->context->workers; i++)
		err = chunk_room_grow(&run->rooms[i]);
	if (!err)
		err = parallel_run(run->context->workers, run->context->workers, scan_inflated,
				   run);
	struct inflater_counts counts = inflater_counts(run->inflater);
	stream->compressed_records = counts.records;
	stream->compressed_bytes = counts.bytes;
	stream->inflated_bytes = counts.inflated_bytes;
	inflater_free(run->inflater);
	return err;
}

static void rooms_free(struct chunk_room *rooms, unsigned count)
{
	for (unsigned i = 0; rooms && i < count; i++)
		chunk_room_fini(&rooms[i]);
	free(rooms);
}

static struct imp_error *rooms_new(unsigned count, uint64_t span, struct chunk_room **ret)
{
	struct chunk_room *rooms = calloc(count, sizeof *rooms);
	struct imp_error *err = rooms ? NULL : &imp_error_no_memory;
	for (unsigned i = 0; !err && i < count; i++)
		err = chunk_room_init(&rooms[i], span);
	if (err)
		rooms_free(rooms, count);
	else
		*ret = rooms;
	return err;
}

static struct imp_error *scan_run_all(struct scan_run *run)
{
	struct stream *stream = run->stream;
	uint64_t size = stream->end - stream->start;
	size_t pieces = (size_t)((size + PIECE_SIZE - 1) / PIECE_SIZE);
	struct imp_error *err = parallel_run(run->context->workers, pieces, scan_piece, run);
	for (size_t i = 0; i < SLOTS; i++)
		slot_drop(run, &run->slots[i]);
	if (!err && stream->compressed_at != NOWHERE)
		err = scan_compressed(run);
	for (size_t i = 0; i < SLOTS; i++)
		slot_drop(run, &run->slots[i]);
	return err;
}

struct imp_error *stream_scan(struct stream *stream, struct scan_context *context,
			      const struct scan *scan, void *arg)
{
	_cleanup_free_ struct scan_run *run = calloc(1, sizeof *run);
	if (!run)
		return &imp_error_no_memory;
	struct imp_error *err =
		rooms_new(context->workers, stream->end - stream->start, &run->rooms);
	if (err)
		return err;
	run->stream = stream;
	run->context = context;
	run->warnings = stream->is_scanned ? NULL : context->warnings;
	run->scan = scan;
	run->arg = arg;
	run->boundary = stream->start;
	stream->pieces.count = 0;
	stream->compressed_at = NOWHERE;
	pthread_mutex_init(&run->lock, NULL);
	pthread_mutex_init(&run->inflater_lock, NULL);
	pthread_cond_init(&run->has_moved, NULL);
	err = scan_run_all(run);
	pthread_cond_destroy(&run->has_moved);
	pthread_mutex_destroy(&run->inflater_lock);
	pthread_mutex_destroy(&run->lock);
	rooms_free(run->rooms, context->workers);
	stream->is_scanned = !err;
	return err;
}
