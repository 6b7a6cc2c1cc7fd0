// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading memory through /proc/PID/mem, which works for another pid namespace's tree too.
#include "live/memory.h"

#include <errno.h>
#include <unistd.h>

size_t fd_bytes_read(void *arg, uint64_t offset, void *bytes, size_t size)
{
	const struct fd_bytes *file = arg;
	size_t done = 0;
	while (done < size) {
		ssize_t got = pread(file->fd, (uint8_t *)bytes + done, size - done,
				    (off_t)(file->offset + offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

void fd_face_read(int fd, struct elf_face *ret)
{
	struct fd_bytes file = { .fd = fd };
	elf_face_read(&(struct byte_source){ .read = fd_bytes_read, .arg = &file }, ret);
}

struct build_id fd_face_id(int fd)
{
	struct fd_bytes file = { .fd = fd };
	return elf_face_id(&(struct byte_source){ .read = fd_bytes_read, .arg = &file });
}

int process_memory_open(const struct proc *proc, uint32_t pid, enum proc_outcome *outcome)
{
	return proc_open_file(proc, outcome, "%u/mem", pid);
}

struct imp_error *process_vdso_read(const struct proc *proc, uint32_t pid, uint64_t start,
				    uint64_t end, struct buffer *ret)
{
	enum { MOST_BYTES = 1024 * 1024 };
	if (end <= start || end - start > MOST_BYTES)
		return NULL;
	enum proc_outcome outcome;
	_cleanup_close_ int fd = process_memory_open(proc, pid, &outcome);
	if (fd < 0)
		return NULL;
	uint8_t *bytes = buffer_extend(ret, end - start);
	if (!bytes)
		return &imp_error_no_memory;
	struct fd_bytes memory = { .fd = fd };
	size_t got = fd_bytes_read(&memory, start, bytes, end - start);
	ret->size -= end - start - got;
	return NULL;
}
