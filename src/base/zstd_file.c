// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// zstd below stdio.
#include "base/zstd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"

// A level at which compression costs less than making the text.
enum { LEVEL = 1 };

struct packer {
	ZSTD_CCtx *zstd;
	int fd;
	uint8_t out[128 * 1024];
};

static bool pack(struct packer *packer, const void *bytes, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { .src = bytes, .size = size };
	for (;;) {
		ZSTD_outBuffer out = { .dst = packer->out, .size = sizeof packer->out };
		size_t left = ZSTD_compressStream2(packer->zstd, &out, &in, end);
		if (ZSTD_isError(left)) {
			errno = EIO;
			return false;
		}
		struct imp_error *err = file_write(packer->fd, "", packer->out, out.pos);
		if (err) {
			imp_error_free(err);
			return false;
		}
		if (in.pos == in.size && (end == ZSTD_e_continue || left == 0))
			return true;
	}
}

static ssize_t packer_write(void *cookie, const char *bytes, size_t size)
{
	return pack(cookie, bytes, size, ZSTD_e_continue) ? (ssize_t)size : 0;
}

static int packer_close(void *cookie)
{
	struct packer *packer = cookie;
	bool is_done = pack(packer, NULL, 0, ZSTD_e_end);
	ZSTD_freeCCtx(packer->zstd);
	is_done = !close(packer->fd) && is_done;
	free(packer);
	return is_done ? 0 : EOF;
}

static struct imp_error *open_packer(int fd, FILE **ret)
{
	struct packer *packer = calloc(1, sizeof *packer);
	if (!packer)
		return &imp_error_no_memory;
	packer->fd = fd;
	packer->zstd = ZSTD_createCCtx();
	if (packer->zstd &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1)))
		*ret = fopencookie(
			packer, "w",
			(cookie_io_functions_t){ .write = packer_write, .close = packer_close });
	if (*ret)
		return NULL;
	ZSTD_freeCCtx(packer->zstd);
	free(packer);
	return &imp_error_no_memory;
}

static bool is_compressed_name(const char *path)
{
	size_t length = strlen(path);
	return length > 4 && !strcmp(path + length - 4, ".zst");
}

struct imp_error *zstd_file_create(const char *path, FILE **ret)
{
	bool is_stdout = !strcmp(path, "-");
	_cleanup_close_ int fd =
		is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_system(errno, "%s: cannot create", path);
	FILE *file = NULL;
	if (is_compressed_name(path)) {
		struct imp_error *err = open_packer(fd, &file);
		if (err)
			return err;
	} else {
		file = fdopen(fd, "w");
		if (!file)
			return &imp_error_no_memory;
	}
	steal_fd(&fd);
	setvbuf(file, NULL, _IOFBF, (size_t)64 * 1024);
	*ret = file;
	return NULL;
}

struct imp_error *zstd_file_close(FILE *file, const char *path)
{
	errno = 0;
	bool has_failed = ferror(file);
	if (fclose(file) || has_failed)
		return error_system(errno ? errno : EIO, "%s: cannot write", path);
	return NULL;
}

struct unpacker {
	ZSTD_DCtx *zstd;
	FILE *file;
	ZSTD_inBuffer in;
	bool is_within_frame;
	uint8_t bytes[128 * 1024];
};

static ssize_t unpacker_read(void *cookie, char *bytes, size_t size)
{
	struct unpacker *unpacker = cookie;
	ZSTD_outBuffer out = { .dst = bytes, .size = size };
	while (out.pos == 0) {
		if (unpacker->in.pos == unpacker->in.size) {
			unpacker->in = (ZSTD_inBuffer){ .src = unpacker->bytes };
			unpacker->in.size =
				fread(unpacker->bytes, 1, sizeof unpacker->bytes, unpacker->file);
			if (!unpacker->in.size)
				break;
		}
		size_t left = ZSTD_decompressStream(unpacker->zstd, &out, &unpacker->in);
		if (ZSTD_isError(left)) {
			errno = EBADMSG;
			return -1;
		}
		unpacker->is_within_frame = left != 0;
	}
	if (out.pos == 0 && (unpacker->is_within_frame || ferror(unpacker->file))) {
		// The file ends in the middle of a frame.
		errno = EBADMSG;
		return -1;
	}
	return (ssize_t)out.pos;
}

static int unpacker_close(void *cookie)
{
	struct unpacker *unpacker = cookie;
	ZSTD_freeDCtx(unpacker->zstd);
	int failed = fclose(unpacker->file);
	free(unpacker);
	return failed;
}

// Puts an unpacker over FILE (taken).
static struct imp_error *open_unpacker(FILE *file, FILE **ret)
{
	struct unpacker *unpacker = calloc(1, sizeof *unpacker);
	FILE *unpacked = NULL;
	if (unpacker) {
		unpacker->file = file;
		unpacker->zstd = ZSTD_createDCtx();
		// 128 MiB of window at most.
		if (unpacker->zstd &&
		    !ZSTD_isError(ZSTD_DCtx_setParameter(unpacker->zstd, ZSTD_d_windowLogMax, 27)))
			unpacked = fopencookie(unpacker, "r",
					       (cookie_io_functions_t){ .read = unpacker_read,
									.close = unpacker_close });
	}
	if (unpacked) {
		*ret = unpacked;
		return NULL;
	}
	if (unpacker)
		ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker);
	(void)fclose(file);
	return &imp_error_no_memory;
}

struct imp_error *zstd_file_open(const char *path, FILE **ret)
{
	bool is_stdin = !strcmp(path, "-");
	_cleanup_close_ int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					  : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	_cleanup_file_ FILE *file = fdopen(fd, "r");
	if (!file)
		return &imp_error_no_memory;
	steal_fd(&fd);
	// No text that anybody compresses begins with this byte.
	int first = getc(file);
	if (first != EOF)
		ungetc(first, file);
	if (first == 0x28)
		return open_unpacker(steal(file), ret);
	*ret = steal(file);
	return NULL;
}
