// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A later pass: pieces that the first one found, in any order; compressed streams by whoever is
// next.
#include "base/parallel.h"
#include "perfdata/inflater.h"
#include "perfdata/scan.h"

struct visit_run {
	struct stream *streams;
	size_t count;
	struct scan_context *context;
	const struct visit_filter *filter;
	recording_visitor *visit;
	void *arg;
	struct chunk_room *rooms;
	// Of the compressed streams; NULL for the others.
	struct inflater **inflaters;
	pthread_mutex_t *inflater_locks;
	pthread_mutex_t progress_lock;
};

static void add_progress(struct visit_run *run, uint64_t bytes)
{
	struct scan_context *context = run->context;
	if (!context->log)
		return;
	pthread_mutex_lock(&run->progress_lock);
	context->done += bytes;
	uint64_t done = context->done < context->total ? context->done : context->total;
	pthread_mutex_unlock(&run->progress_lock);
	log_progress(context->log, "bytes of records read", done, context->total);
}

// The stream that piece NUMBER of all pieces is in, and the piece.
static const struct stream *find_piece(const struct visit_run *run, size_t number,
				       const struct piece **piece)
{
	const struct stream *stream = run->streams;
	while (number >= stream->pieces.count)
		number -= (stream++)->pieces.count;
	*piece = &stream->pieces.items[number];
	return stream;
}

static struct imp_error *visit_piece(void *arg, unsigned worker, size_t number)
{
	struct visit_run *run = arg;
	const struct piece *piece;
	const struct stream *stream = find_piece(run, number, &piece);
	const struct visit_filter *filter = run->filter;
	if (filter && !filter->wants(filter->arg, stream->first_position + piece->start))
		return NULL;
	struct chunk chunk;
	struct imp_error *err =
		stream_load(stream, piece->start, piece->end, &run->rooms[worker], &chunk);
	if (!err)
		err = run->visit(run->arg, worker, &chunk);
	add_progress(run, piece->end - piece->start);
	return err;
}

// Visits what stream INDEX still has, chunk by chunk, taking turns with others who do the same.
static struct imp_error *visit_inflated(struct visit_run *run, unsigned worker, size_t index)
{
	for (;;) {
		struct chunk chunk;
		bool has_more = false;
		pthread_mutex_lock(&run->inflater_locks[index]);
		struct inflater *inflater = run->inflaters[index];
		uint64_t before = inflater_offset(inflater);
		struct imp_error *err =
			inflater_next(inflater, &run->rooms[worker], &chunk, &has_more);
		uint64_t bytes = inflater_offset(inflater) - before;
		pthread_mutex_unlock(&run->inflater_locks[index]);
		if (!err && has_more)
			err = run->visit(run->arg, worker, &chunk);
		add_progress(run, bytes);
		if (err || !has_more)
			return err;
	}
}

static struct imp_error *visit_all_inflated(void *arg, unsigned worker, size_t piece)
{
	struct visit_run *run = arg;
	struct imp_error *err = NULL;
	// Each worker begins with another stream.
	for (size_t i = 0; !err && i < run->count; i++) {
		size_t index = (i + piece) % run->count;
		if (run->inflaters[index])
			err = visit_inflated(run, worker, index);
	}
	return err;
}

static struct imp_error *visit_compressed(struct visit_run *run)
{
	struct imp_error *err = NULL;
	bool has_any = false;
	for (size_t i = 0; !err && i < run->count; i++) {
		if (run->streams[i].compressed_at == NOWHERE)
			continue;
		has_any = true;
		err = inflater_new(&run->streams[i], NULL, &run->inflaters[i]);
	}
	for (unsigned i = 0; !err && has_any && i < run->context->workers; i++)
		err = chunk_room_grow(&run->rooms[i]);
	if (!err && has_any)
		err = parallel_run(run->context->workers, run->context->workers, visit_all_inflated,
				   run);
	return err;
}

static struct imp_error *visit_all(struct visit_run *run)
{
	size_t pieces = 0;
	for (size_t i = 0; i < run->count; i++)
		pieces += run->streams[i].pieces.count;
	struct imp_error *err = parallel_run(run->context->workers, pieces, visit_piece, run);
	return err ? err : visit_compressed(run);
}

static struct imp_error *run_init(struct visit_run *run)
{
	pthread_mutex_init(&run->progress_lock, NULL);
	run->inflaters = calloc(run->count, sizeof *run->inflaters);
	run->inflater_locks = calloc(run->count, sizeof *run->inflater_locks);
	run->rooms = calloc(run->context->workers, sizeof *run->rooms);
	if (!run->inflaters || !run->inflater_locks || !run->rooms)
		return &imp_error_no_memory;
	for (size_t i = 0; i < run->count; i++)
		pthread_mutex_init(&run->inflater_locks[i], NULL);
	struct imp_error *err = NULL;
	uint64_t span = 0;
	for (size_t i = 0; i < run->count; i++)
		if (run->streams[i].end - run->streams[i].start > span)
			span = run->streams[i].end - run->streams[i].start;
	for (unsigned i = 0; !err && i < run->context->workers; i++)
		err = chunk_room_init(&run->rooms[i], span);
	return err;
}

static void run_fini(struct visit_run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		if (run->inflaters)
			inflater_free(run->inflaters[i]);
		if (run->inflater_locks)
			pthread_mutex_destroy(&run->inflater_locks[i]);
	}
	for (unsigned i = 0; run->rooms && i < run->context->workers; i++)
		chunk_room_fini(&run->rooms[i]);
	free(run->inflaters);
	free(run->inflater_locks);
	free(run->rooms);
	pthread_mutex_destroy(&run->progress_lock);
}

struct imp_error *streams_visit(struct stream *streams, size_t count, struct scan_context *context,
				const struct visit_filter *filter, recording_visitor *visit,
				void *arg)
{
	struct visit_run run = {
		.streams = streams,
		.count = count,
		.context = context,
		.filter = filter,
		.visit = visit,
		.arg = arg,
	};
	struct imp_error *err = run_init(&run);
	if (!err)
		err = visit_all(&run);
	run_fini(&run);
	return err;
}
