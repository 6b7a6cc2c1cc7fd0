// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Tar by libarchive; zstd by its own library, whose threads and long window libarchive cannot
// reach.
#include "archive/tar_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "archive/zstd_frame.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/late/late_archive.h"

enum { STEP_BYTES = 1 << 20 };

struct tar_stream {
	char *path;
	char *unfinished;
	int fd;
	struct tar_options options;
	struct archive *tar;
	ZSTD_CCtx *zstd;
	uint8_t *room;
	// Of TAR_FRAMES: what was not compressed yet.
	struct buffer loose;
	struct frame_packer packer;
	// What libarchive gets to count is in the file already.
	bool is_told_only;
	// The first failure of a write below libarchive, which would lose its text.
	struct imp_error *failed;
};

static struct imp_error *compress_to_file(struct tar_stream *stream, const void *bytes, size_t size,
					  ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	for (;;) {
		ZSTD_outBuffer out = { stream->room, STEP_BYTES, 0 };
		size_t left = ZSTD_compressStream2(stream->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return error_new(IMP_ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
		struct imp_error *err = file_write(stream->fd, stream->path, out.dst, out.pos);
		if (err)
			return err;
		if (end == ZSTD_e_continue ? in.pos == in.size : left == 0)
			return NULL;
	}
}

// Makes a frame of what has gathered.
static struct imp_error *write_loose(struct tar_stream *stream)
{
	struct imp_error *err = NULL;
	for (size_t at = 0; !err && at < stream->loose.size;) {
		size_t left = stream->loose.size - at;
		size_t step = left < FRAME_MOST_BYTES ? left : FRAME_MOST_BYTES;
		struct frame frame = { 0 };
		err = frame_packer_pack(&stream->packer, stream->loose.bytes + at, step, &frame);
		if (!err)
			err = file_write(stream->fd, stream->path, frame.bytes, frame.size);
		free(frame.bytes);
		at += step;
	}
	stream->loose.size = 0;
	return err;
}

static struct imp_error *gather(struct tar_stream *stream, const void *bytes, size_t size)
{
	buffer_append(&stream->loose, bytes, size);
	if (stream->loose.failed)
		return &imp_error_no_memory;
	return stream->loose.size < FRAME_MOST_BYTES ? NULL : write_loose(stream);
}

static struct imp_error *take_block(struct tar_stream *stream, const void *bytes, size_t size)
{
	if (stream->is_told_only)
		return NULL;
	if (stream->options.compression == TAR_FRAMES)
		return gather(stream, bytes, size);
	return stream->zstd ? compress_to_file(stream, bytes, size, ZSTD_e_continue)
			    : file_write(stream->fd, stream->path, bytes, size);
}

// libarchive that hears of a failure forgets to free what is its own: it is told after each call.
static la_ssize_t write_block(struct archive *tar, void *arg, const void *bytes, size_t size)
{
	(void)tar;
	struct tar_stream *stream = arg;
	if (!stream->failed)
		stream->failed = take_block(stream, bytes, size);
	return (la_ssize_t)size;
}

static struct imp_error *tar_error(struct tar_stream *stream, const char *name)
{
	if (stream->failed) {
		struct imp_error *err = stream->failed;
		stream->failed = NULL;
		return err;
	}
	const char *text = archive_error_string(stream->tar);
	return error_new(IMP_ERR_SYSTEM, "%s: %s: %s", stream->path, name,
			 text ? text : "cannot write");
}

static struct imp_error *begin_zstd(struct tar_stream *stream)
{
	stream->zstd = ZSTD_createCCtx();
	stream->room = malloc(STEP_BYTES);
	if (!stream->zstd || !stream->room)
		return &imp_error_no_memory;
	enum { LEVEL = 6, LONG_WINDOW = 27 };
	int level = stream->options.level ? stream->options.level : LEVEL;
	(void)ZSTD_CCtx_setParameter(stream->zstd, ZSTD_c_compressionLevel, level);
	(void)ZSTD_CCtx_setParameter(stream->zstd, ZSTD_c_checksumFlag, 1);
	if (stream->options.is_long) {
		// The longest that every zstd unpacks without being asked to.
		(void)ZSTD_CCtx_setParameter(stream->zstd, ZSTD_c_windowLog, LONG_WINDOW);
		(void)ZSTD_CCtx_setParameter(stream->zstd, ZSTD_c_enableLongDistanceMatching, 1);
	}
	// One worker and many make the same bytes; none makes others.
	int workers = stream->options.workers ? (int)stream->options.workers : 1;
	(void)ZSTD_CCtx_setParameter(stream->zstd, ZSTD_c_nbWorkers, workers);
	return NULL;
}

static struct imp_error *begin_tar(struct tar_stream *stream)
{
	struct imp_error *err = late_archive_load();
	if (err)
		return err;
	stream->tar = archive_write_new();
	if (!stream->tar)
		return &imp_error_no_memory;
	int status = archive_write_set_format_pax_restricted(stream->tar);
	if (status == ARCHIVE_OK && stream->options.compression == TAR_GZIP)
		status = archive_write_add_filter_gzip(stream->tar);
	else if (status == ARCHIVE_OK && stream->options.compression == TAR_BZIP2)
		status = archive_write_add_filter_bzip2(stream->tar);
	else if (status == ARCHIVE_OK && stream->options.compression == TAR_XZ)
		status = archive_write_add_filter_xz(stream->tar);
	// Else the names of temporary files would get into gzip's header, and the time.
	if (status == ARCHIVE_OK && stream->options.compression == TAR_GZIP)
		status = archive_write_set_options(stream->tar, "gzip:!timestamp");
	if (status == ARCHIVE_OK)
		status = archive_write_set_bytes_in_last_block(stream->tar, 1);
	// Without blocks it is known what comes before a member's contents.
	if (status == ARCHIVE_OK && stream->options.compression == TAR_FRAMES)
		status = archive_write_set_bytes_per_block(stream->tar, 0);
	if (status == ARCHIVE_OK)
		status = archive_write_open(stream->tar, stream, NULL, write_block, NULL);
	return status == ARCHIVE_OK ? NULL : tar_error(stream, "tar");
}

static struct imp_error *begin_file(struct tar_stream *stream)
{
	if (!strcmp(stream->path, "-")) {
		stream->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return stream->fd < 0 ? error_system(errno, "standard output") : NULL;
	}
	if (asprintf(&stream->unfinished, "%s.%d.unfinished", stream->path, getpid()) < 0) {
		stream->unfinished = NULL;
		return &imp_error_no_memory;
	}
	stream->fd = open(stream->unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			  0666);
	if (stream->fd >= 0)
		return NULL;
	struct imp_error *err = error_system(errno, "%s: cannot create", stream->path);
	free(stream->unfinished);
	stream->unfinished = NULL;
	return err;
}

struct imp_error *tar_stream_new(const char *path, const struct tar_options *options,
				 struct tar_stream **ret)
{
	_cleanup_(cleanup_tar_stream) struct tar_stream *stream = calloc(1, sizeof *stream);
	if (!stream)
		return &imp_error_no_memory;
	stream->fd = -1;
	stream->options = *options;
	stream->path = strdup(path);
	if (!stream->path)
		return &imp_error_no_memory;
	struct imp_error *err = begin_file(stream);
	if (!err && options->compression == TAR_ZSTD)
		err = begin_zstd(stream);
	if (!err)
		err = begin_tar(stream);
	if (!err)
		*ret = steal(stream);
	return err;
}

void tar_stream_free(struct tar_stream *stream)
{
	if (!stream)
		return;
	// Freeing completes it, which nobody is to see.
	stream->is_told_only = true;
	if (stream->tar)
		(void)archive_write_free(stream->tar);
	(void)ZSTD_freeCCtx(stream->zstd);
	frame_packer_fini(&stream->packer);
	buffer_fini(&stream->loose);
	cleanup_close(&stream->fd);
	if (stream->unfinished)
		(void)unlink(stream->unfinished);
	imp_error_free(stream->failed);
	free(stream->unfinished);
	free(stream->room);
	free(stream->path);
	free(stream);
}

static struct imp_error *complete(struct tar_stream *stream)
{
	if (archive_write_close(stream->tar) != ARCHIVE_OK || stream->failed)
		return tar_error(stream, "end");
	struct imp_error *err = stream->zstd ? compress_to_file(stream, NULL, 0, ZSTD_e_end)
					     : write_loose(stream);
	if (err || !stream->unfinished)
		return err;
	if (fsync(stream->fd) < 0 || rename(stream->unfinished, stream->path) < 0)
		return error_system(errno, "%s: cannot write", stream->path);
	free(stream->unfinished);
	stream->unfinished = NULL;
	return NULL;
}

struct imp_error *tar_stream_close(struct tar_stream *stream)
{
	struct imp_error *err = complete(stream);
	tar_stream_free(stream);
	return err;
}

static struct imp_error *begin_member(struct tar_stream *stream, const char *name, uint64_t size,
				      const char *target)
{
	struct archive_entry *entry = archive_entry_new();
	if (!entry)
		return &imp_error_no_memory;
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, target ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(entry, target ? 0777 : 0644);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, stream->options.time_s, 0);
	if (target)
		archive_entry_set_symlink(entry, target);
	int status = archive_write_header(stream->tar, entry);
	archive_entry_free(entry);
	return status == ARCHIVE_OK && !stream->failed ? NULL : tar_error(stream, name);
}

static struct imp_error *write_bytes(struct tar_stream *stream, const char *name, const void *bytes,
				     size_t size)
{
	const uint8_t *at = bytes;
	while (size > 0) {
		size_t step = size < STEP_BYTES ? size : STEP_BYTES;
		la_ssize_t done = archive_write_data(stream->tar, at, step);
		if (done <= 0 || stream->failed)
			return tar_error(stream, name);
		at += done;
		size -= (size_t)done;
	}
	return NULL;
}

struct imp_error *tar_stream_memory(struct tar_stream *stream, const char *name, const void *bytes,
				    size_t size)
{
	struct imp_error *err = begin_member(stream, name, size, NULL);
	return err ? err : write_bytes(stream, name, bytes, size);
}

struct imp_error *tar_stream_fd(struct tar_stream *stream, const char *name, int fd, uint64_t size)
{
	struct imp_error *err = begin_member(stream, name, size, NULL);
	_cleanup_free_ uint8_t *bytes = malloc(STEP_BYTES);
	if (!err && !bytes)
		err = &imp_error_no_memory;
	for (uint64_t at = 0; !err && at < size;) {
		size_t step = size - at < STEP_BYTES ? (size_t)(size - at) : STEP_BYTES;
		size_t got;
		err = file_pread(fd, name, bytes, step, at, &got);
		if (!err && got < step)
			err = error_new(IMP_ERR_SYSTEM, "%s: became shorter while it was read",
					name);
		if (!err)
			err = write_bytes(stream, name, bytes, step);
		at += step;
	}
	return err;
}

struct imp_error *tar_stream_begin(struct tar_stream *stream, const char *name, uint64_t size)
{
	return begin_member(stream, name, size, NULL);
}

struct imp_error *tar_stream_frames(struct tar_stream *stream, const void *frames, size_t size,
				    uint64_t content)
{
	struct imp_error *err = write_loose(stream);
	if (!err)
		err = file_write(stream->fd, stream->path, frames, size);
	if (err)
		return err;
	// Its bytes are not looked at.
	static const uint8_t nothing[1 << 16];
	stream->is_told_only = true;
	while (!err && content) {
		size_t step = content < sizeof nothing ? (size_t)content : sizeof nothing;
		err = write_bytes(stream, "contents", nothing, step);
		content -= step;
	}
	stream->is_told_only = false;
	return err;
}

struct imp_error *tar_stream_link(struct tar_stream *stream, const char *name, const char *target)
{
	return begin_member(stream, name, 0, target);
}
