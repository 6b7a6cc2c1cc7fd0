// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The head and the moving window.
#include "elf/elf_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static size_t read_at(struct elf_reader *reader, uint64_t offset, uint8_t *room, size_t size)
{
	uint64_t at;
	if (__builtin_add_overflow(reader->origin, offset, &at) || at > INT64_MAX - size)
		return 0;
	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(reader->fd, room + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !reader->error)
			reader->error = errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

void elf_reader_over_fd(struct elf_reader *reader, int fd, uint64_t origin)
{
	reader->fd = fd;
	reader->origin = origin;
	reader->bytes = NULL;
	reader->size = 0;
	reader->error = 0;
	reader->window_size = 0;
	reader->window_at = 0;
	reader->head_size = read_at(reader, 0, reader->head, sizeof reader->head);
}

void elf_reader_over_memory(struct elf_reader *reader, const void *bytes, size_t size)
{
	reader->fd = -1;
	reader->origin = 0;
	reader->bytes = bytes;
	reader->size = size;
	reader->error = 0;
	reader->head_size = reader->window_size = 0;
	reader->window_at = 0;
}

static bool is_within(uint64_t offset, size_t size, uint64_t at, size_t have)
{
	return offset >= at && offset - at <= have && size <= have - (offset - at);
}

const uint8_t *elf_reader_span(struct elf_reader *reader, uint64_t offset, size_t size)
{
	if (reader->bytes)
		return is_within(offset, size, 0, reader->size) ? reader->bytes + offset : NULL;
	if (is_within(offset, size, 0, reader->head_size))
		return reader->head + offset;
	if (size > sizeof reader->window)
		return NULL;
	if (!is_within(offset, size, reader->window_at, reader->window_size)) {
		reader->window_size =
			read_at(reader, offset, reader->window, sizeof reader->window);
		reader->window_at = offset;
	}
	return size <= reader->window_size - (size_t)(offset - reader->window_at)
		       ? reader->window + (offset - reader->window_at)
		       : NULL;
}

size_t elf_reader_copy(struct elf_reader *reader, uint64_t offset, uint8_t *room, size_t size)
{
	if (!reader->bytes)
		return read_at(reader, offset, room, size);
	if (offset >= reader->size)
		return 0;
	if (size > reader->size - offset)
		size = reader->size - (size_t)offset;
	memcpy(room, reader->bytes + offset, size);
	return size;
}
