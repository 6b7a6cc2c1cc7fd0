// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Contents are cut into pieces, which threads compress as they are free and whoever has the next
// one writes. No thread is further ahead of what is written than there are slots.
#include "archive/frames.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "archive/zstd_frame.h"
#include "base/array.h"
#include "base/file.h"
#include "base/parallel.h"
#include "store/packed.h"

enum { SLOTS_PER_WORKER = 2, STEP_BYTES = 1 << 20 };

struct piece {
	size_t member;
	uint64_t offset;
	size_t size;
};

struct job {
	struct tar_stream *tar;
	const struct frame_member *members;
	size_t count;
	struct store *store;
	struct frame_method method;
	// By member: the store has a compressed copy.
	bool *has_copy;
	ARRAY_OF(struct piece) pieces;
	// One for each worker.
	struct frame_packer *packers;
	// Piece P waits for its turn in slot P modulo their number.
	struct frame *slots;
	size_t slot_count;
	pthread_mutex_t mutex;
	pthread_cond_t moved;
	bool is_writing, has_failed;
	// Pieces that are written; members that are begun.
	size_t written, begun;
	// The copy of the member at hand that is being kept, or NULL.
	struct packing *packing;
};

static struct imp_error *look_for_copy(void *arg, unsigned worker, size_t index)
{
	(void)worker;
	struct job *job = arg;
	const struct frame_member *member = &job->members[index];
	if (!job->store || !member->hash || !member->size_bytes)
		return NULL;
	_cleanup_close_ int fd = -1;
	uint64_t size;
	struct imp_error *err =
		packed_open(job->store, member->hash, job->method.text, false, &fd, &size);
	job->has_copy[index] = fd >= 0;
	return err;
}

static struct imp_error *cut(struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		uint64_t size = job->has_copy[i] ? 0 : job->members[i].size_bytes;
		for (uint64_t at = 0; at < size; at += FRAME_MOST_BYTES) {
			struct piece *piece = array_add(&job->pieces);
			if (!piece)
				return &imp_error_no_memory;
			*piece = (struct piece){ i, at, FRAME_MOST_BYTES };
			if (size - at < FRAME_MOST_BYTES)
				piece->size = (size_t)(size - at);
		}
	}
	return NULL;
}

static struct imp_error *compress(const struct job *job, const struct piece *piece,
				  struct frame_packer *packer, struct frame *ret)
{
	const struct frame_member *member = &job->members[piece->member];
	if (member->bytes)
		return frame_packer_pack(packer, (const uint8_t *)member->bytes + piece->offset,
					 piece->size, ret);
	struct imp_error *err =
		frame_packer_read(packer, member->fd, member->name, piece->offset, piece->size);
	return err ? err : frame_packer_pack(packer, packer->room, piece->size, ret);
}

// Keeping a copy is worth no failure: without room in the store there is none.
static void give_up_copy(struct job *job, struct imp_error *err)
{
	if (!err)
		return;
	imp_error_free(err);
	packing_free(job->packing);
	job->packing = NULL;
}

static struct imp_error *begin_member(struct job *job)
{
	const struct frame_member *member = &job->members[job->begun++];
	return tar_stream_begin(job->tar, member->name, member->size_bytes);
}

static struct imp_error *write_piece(struct job *job, const struct piece *piece,
				     const struct frame *frame)
{
	const struct frame_member *member = &job->members[piece->member];
	if (!piece->offset) {
		struct imp_error *err = begin_member(job);
		if (err)
			return err;
		if (job->store && member->hash)
			give_up_copy(job, packing_new(job->store, member->hash, job->method.text,
						      &job->packing));
	}
	if (job->packing)
		give_up_copy(job, packing_add(job->packing, frame->bytes, frame->size));
	if (job->packing && piece->offset + piece->size == member->size_bytes) {
		imp_error_free(packing_end(job->packing));
		job->packing = NULL;
	}
	return tar_stream_frames(job->tar, frame->bytes, frame->size, piece->size);
}

// Copies SIZE bytes of frames from FD.
static struct imp_error *copy_frames(struct job *job, const struct frame_member *member, int fd,
				     uint64_t size)
{
	_cleanup_free_ uint8_t *bytes = malloc(STEP_BYTES);
	struct imp_error *err = bytes ? begin_member(job) : &imp_error_no_memory;
	for (uint64_t at = 0; !err && at < size;) {
		size_t step = size - at < STEP_BYTES ? (size_t)(size - at) : STEP_BYTES;
		size_t got;
		err = file_pread(fd, member->name, bytes, step, at, &got);
		if (!err && got < step)
			err = error_new(IMP_ERR_SYSTEM, "%s: its compressed copy became shorter",
					member->name);
		at += step;
		if (!err)
			err = tar_stream_frames(job->tar, bytes, step,
						at == size ? member->size_bytes : 0);
	}
	return err;
}

// The copy went after it was seen: once more from the contents, by the thread that writes.
static struct imp_error *compress_again(struct job *job, size_t index)
{
	const struct frame_member *member = &job->members[index];
	struct frame_packer packer = { 0 };
	struct imp_error *err = NULL;
	for (uint64_t at = 0; !err && at < member->size_bytes; at += FRAME_MOST_BYTES) {
		struct piece piece = { index, at, FRAME_MOST_BYTES };
		if (member->size_bytes - at < FRAME_MOST_BYTES)
			piece.size = (size_t)(member->size_bytes - at);
		struct frame frame = { 0 };
		err = compress(job, &piece, &packer, &frame);
		if (!err)
			err = write_piece(job, &piece, &frame);
		free(frame.bytes);
	}
	frame_packer_fini(&packer);
	return err;
}

static struct imp_error *write_copy(struct job *job, size_t index)
{
	const struct frame_member *member = &job->members[index];
	if (!job->has_copy[index])
		return begin_member(job);
	_cleanup_close_ int fd = -1;
	uint64_t size;
	struct imp_error *err =
		packed_open(job->store, member->hash, job->method.text, true, &fd, &size);
	if (err)
		return err;
	return fd < 0 ? compress_again(job, index) : copy_frames(job, member, fd, size);
}

// Writes the members before END that need no compression.
static struct imp_error *write_copies(struct job *job, size_t end)
{
	struct imp_error *err = NULL;
	while (!err && job->begun < end)
		err = write_copy(job, job->begun);
	return err;
}

static struct imp_error *write_next(struct job *job, struct frame *frame)
{
	const struct piece *piece = &job->pieces.items[job->written];
	struct imp_error *err = piece->offset ? NULL : write_copies(job, piece->member);
	return err ? err : write_piece(job, piece, frame);
}

// Writes what is whose turn it is, unless another does. Called with the mutex held, which is let go
// meanwhile.
static struct imp_error *write_ready(struct job *job)
{
	struct imp_error *err = NULL;
	if (job->is_writing)
		return NULL;
	job->is_writing = true;
	for (;;) {
		struct frame *slot = &job->slots[job->written % job->slot_count];
		if (err || job->has_failed || !slot->bytes)
			break;
		struct frame frame = *slot;
		pthread_mutex_unlock(&job->mutex);
		err = write_next(job, &frame);
		free(frame.bytes);
		pthread_mutex_lock(&job->mutex);
		slot->bytes = NULL;
		job->written++;
		pthread_cond_broadcast(&job->moved);
	}
	job->is_writing = false;
	return err;
}

static struct imp_error *do_piece(void *arg, unsigned worker, size_t index)
{
	struct job *job = arg;
	pthread_mutex_lock(&job->mutex);
	while (!job->has_failed && index >= job->written + job->slot_count)
		pthread_cond_wait(&job->moved, &job->mutex);
	bool is_over = job->has_failed;
	pthread_mutex_unlock(&job->mutex);
	if (is_over)
		return NULL;
	struct frame frame = { 0 };
	struct imp_error *err =
		compress(job, &job->pieces.items[index], &job->packers[worker], &frame);
	pthread_mutex_lock(&job->mutex);
	if (!err) {
		job->slots[index % job->slot_count] = frame;
		err = write_ready(job);
	}
	if (err) {
		job->has_failed = true;
		pthread_cond_broadcast(&job->moved);
	}
	pthread_mutex_unlock(&job->mutex);
	return err;
}

static struct imp_error *run(struct job *job, unsigned workers)
{
	job->has_copy = calloc(job->count + 1, sizeof *job->has_copy);
	job->packers = calloc(workers, sizeof *job->packers);
	job->slot_count = (size_t)workers * SLOTS_PER_WORKER;
	job->slots = calloc(job->slot_count, sizeof *job->slots);
	if (!job->has_copy || !job->packers || !job->slots)
		return &imp_error_no_memory;
	struct imp_error *err = parallel_run(workers, job->count, look_for_copy, job);
	if (!err)
		err = cut(job);
	if (!err)
		err = parallel_run(workers, job->pieces.count, do_piece, job);
	return err ? err : write_copies(job, job->count);
}

struct imp_error *frames_write(struct tar_stream *tar, const struct frame_member *members,
			       size_t count, struct store *store, unsigned workers)
{
	workers = parallel_workers(workers);
	struct job job = { .tar = tar, .members = members, .count = count, .store = store };
	job.method = frame_method();
	(void)pthread_mutex_init(&job.mutex, NULL);
	(void)pthread_cond_init(&job.moved, NULL);
	struct imp_error *err = run(&job, workers);
	for (size_t i = 0; job.slots && i < job.slot_count; i++)
		free(job.slots[i].bytes);
	for (unsigned i = 0; job.packers && i < workers; i++)
		frame_packer_fini(&job.packers[i]);
	packing_free(job.packing);
	free(job.has_copy);
	free(job.packers);
	free(job.slots);
	array_fini(&job.pieces);
	(void)pthread_cond_destroy(&job.moved);
	(void)pthread_mutex_destroy(&job.mutex);
	return err;
}
