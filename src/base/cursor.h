// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A bounded cursor over foreign bytes: read straight through, ask once whether it failed.
//
// A read beyond the end sets `failed`, remembers where, and gives zero from then on. Values may
// stand at any alignment. `swap` says that the bytes come from a machine of the other byte order.
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

struct cursor {
	const uint8_t *start;
	size_t size;
	size_t at;
	// Where `start` lies in the file, for messages.
	uint64_t origin;
	// Valid when failed: where the read that failed began.
	size_t failed_at;
	bool swap;
	bool failed;
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	return (struct cursor){ .start = bytes, .size = size };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return cursor->size - cursor->at;
}

// The next SIZE bytes, lent by the input; NULL when there are fewer.
static inline const uint8_t *cursor_bytes(struct cursor *cursor, size_t size)
{
	if (cursor->failed || size > cursor->size - cursor->at) {
		if (!cursor->failed)
			cursor->failed_at = cursor->at;
		cursor->failed = true;
		return NULL;
	}
	const uint8_t *bytes = cursor->start + cursor->at;
	cursor->at += size;
	return bytes;
}

static inline bool cursor_skip(struct cursor *cursor, size_t size)
{
	return cursor_bytes(cursor, size) || (size == 0 && !cursor->failed);
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, 1);
	return bytes ? *bytes : 0;
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	uint16_t value = 0;
	const uint8_t *bytes = cursor_bytes(cursor, sizeof value);
	if (!bytes)
		return 0;
	memcpy(&value, bytes, sizeof value);
	return cursor->swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	uint32_t value = 0;
	const uint8_t *bytes = cursor_bytes(cursor, sizeof value);
	if (!bytes)
		return 0;
	memcpy(&value, bytes, sizeof value);
	return cursor->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	uint64_t value = 0;
	const uint8_t *bytes = cursor_bytes(cursor, sizeof value);
	if (!bytes)
		return 0;
	memcpy(&value, bytes, sizeof value);
	return cursor->swap ? __builtin_bswap64(value) : value;
}

// A string that ends with NUL within the cursor; the cursor then stands after the NUL. NULL
// (failed) without one.
static inline const char *cursor_string(struct cursor *cursor)
{
	size_t left = cursor_left(cursor);
	const char *text = (const char *)cursor->start + cursor->at;
	size_t length = cursor->failed || !left ? left : strnlen(text, left);
	return (const char *)(cursor_bytes(cursor, length + 1) ? (const void *)text : NULL);
}

// A cursor over the next SIZE bytes, of which this one is then past. Failed when there are fewer.
static inline struct cursor cursor_part(struct cursor *cursor, size_t size)
{
	struct cursor part = { .origin = cursor->origin + cursor->at, .swap = cursor->swap };
	const uint8_t *bytes = cursor_bytes(cursor, size);
	if (bytes || (size == 0 && !cursor->failed)) {
		part.start = bytes;
		part.size = size;
	} else {
		part.failed = true;
	}
	return part;
}

// "truncated WHAT at offset N of M" as IMP_ERR_BAD_DATA.
struct imp_error *cursor_error(const struct cursor *cursor, const char *what)
	__attribute__((returns_nonnull, warn_unused_result));

#endif
