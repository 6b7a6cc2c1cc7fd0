// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Appending to a buffer.
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void buffer_fini(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){ 0 };
}

uint8_t *buffer_extend(struct buffer *buffer, size_t size)
{
	if (buffer->failed)
		return NULL;
	if (!array_grow((void **)&buffer->bytes, buffer->size, &buffer->room, size, 1)) {
		buffer->failed = true;
		return NULL;
	}
	if (!buffer->bytes && !array_grow((void **)&buffer->bytes, 0, &buffer->room, 1, 1)) {
		buffer->failed = true;
		return NULL;
	}
	uint8_t *at = buffer->bytes + buffer->size;
	buffer->size += size;
	return at;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	uint8_t *at = size ? buffer_extend(buffer, size) : NULL;
	if (at)
		memcpy(at, bytes, size);
}

void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
	// Most texts are short: they are written where they belong, and only longer ones twice.
	enum { MOST_AT_ONCE = 64 };
	va_list args, again;
	uint8_t *room = buffer_extend(buffer, MOST_AT_ONCE);
	if (!room)
		return;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf((char *)room, MOST_AT_ONCE, format, args);
	buffer->size -= MOST_AT_ONCE;
	if (length < 0) {
		buffer->failed = true;
	} else if (length < MOST_AT_ONCE) {
		buffer->size += (size_t)length;
	} else if ((room = buffer_extend(buffer, (size_t)length + 1))) {
		vsnprintf((char *)room, (size_t)length + 1, format, again);
		buffer->size--;
	}
	va_end(again);
	va_end(args);
}
