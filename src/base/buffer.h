// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A growing byte buffer, for building text and records in memory.
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zero-initialised is empty. When an append runs out of memory, `failed` is set and later appends
// do nothing.
struct buffer {
	uint8_t *bytes;
	size_t size;
	size_t room;
	bool failed;
};

void buffer_fini(struct buffer *buffer);

// SIZE new bytes at the end, to be filled by the caller; NULL when memory ran out.
uint8_t *buffer_extend(struct buffer *buffer, size_t size);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_format(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define _cleanup_buffer_ __attribute__((cleanup(buffer_fini)))

#endif
