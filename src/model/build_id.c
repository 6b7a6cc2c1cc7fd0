// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Build IDs: reading, writing, comparing.
#include "model/build_id.h"

#include <string.h>

#include "base/hash.h"
#include "base/hex.h"

struct build_id build_id_of(const void *bytes, uint32_t size)
{
	struct build_id id = { 0 };
	if (size == 0 || size > BUILD_ID_MOST_BYTES)
		return id;
	static const uint8_t zero[BUILD_ID_MOST_BYTES];
	if (!memcmp(bytes, zero, size))
		return id;
	id.size = (uint8_t)size;
	memcpy(id.bytes, bytes, size);
	return id;
}

bool build_id_parse(const char *text, struct build_id *ret)
{
	uint8_t bytes[BUILD_ID_MOST_BYTES];
	*ret = (struct build_id){ 0 };
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	size_t length = strnlen(text, BUILD_ID_TEXT_SIZE);
	if (length > 2 * sizeof bytes || !hex_parse(text, length, bytes))
		return false;
	*ret = build_id_of(bytes, (uint32_t)(length / 2));
	return ret->size > 0;
}

struct build_id_text build_id_text(const struct build_id *id)
{
	struct build_id_text text;
	hex_format(id->bytes, id->size, text.text);
	return text;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

bool build_id_equal_padded(const struct build_id *padded, const struct build_id *id)
{
	// Bytes beyond an ID's size are zero, so comparing the longer length compares the tail with
	// zero.
	return id->size && padded->size >= id->size &&
	       !memcmp(padded->bytes, id->bytes, padded->size);
}

int build_id_compare(const struct build_id *a, const struct build_id *b)
{
	int order = memcmp(a->bytes, b->bytes, sizeof a->bytes);
	return order ? order : (int)a->size - (int)b->size;
}

uint64_t build_id_hash(const struct build_id *id)
{
	return hash_bytes(id->size, id->bytes, id->size);
}
