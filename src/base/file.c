// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Whole transfers.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct imp_error *file_pread(int fd, const char *path, void *bytes, size_t size, uint64_t offset,
			     size_t *got)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(errno, "%s: cannot read at offset %llu", path,
					    (unsigned long long)(offset + done));
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*got = done;
	return NULL;
}

struct imp_error *file_read(int fd, const char *path, void *bytes, size_t size, size_t *got)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = read(fd, (uint8_t *)bytes + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(errno, "%s: cannot read", path);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*got = done;
	return NULL;
}

struct imp_error *file_write(int fd, const char *path, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const uint8_t *)bytes + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(errno, "%s: cannot write", path);
		done += (size_t)n;
	}
	return NULL;
}

struct imp_error *file_slurp(int fd, const char *path, size_t limit, struct buffer *ret)
{
	enum { STEP = 64 * 1024 };
	for (size_t total = 0;;) {
		uint8_t *at = buffer_extend(ret, STEP);
		if (!at)
			return &imp_error_no_memory;
		size_t got;
		struct imp_error *err = file_read(fd, path, at, STEP, &got);
		if (err)
			return err;
		ret->size -= STEP - got;
		total += got;
		if (total > limit)
			return error_new(IMP_ERR_BAD_DATA, "%s: larger than %zu bytes", path,
					 limit);
		if (got < STEP)
			return NULL;
	}
}

struct imp_error *file_slurp_path(const char *path, size_t limit, struct buffer *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	return file_slurp(fd, path, limit, ret);
}
