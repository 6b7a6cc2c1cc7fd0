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
	va_list args;
	va_start(args, format);
	char *text = NULL;
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		buffer->failed = true;
		return;
	}
	buffer_append(buffer, text, (size_t)length);
	free(text);
}
