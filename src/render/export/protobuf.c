// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing messages of Protocol Buffers: variable-length numbers, and bytes behind their length.
#include "render/export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_BITS = 3 };

void protobuf_pack(struct buffer *packed, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;
	do {
		bytes[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	} while (value);
	bytes[count - 1] &= 0x7f;
	buffer_append(packed, bytes, count);
}

void protobuf_uint(struct buffer *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	protobuf_pack(message, (uint64_t)field << WIRE_BITS | WIRE_VARINT);
	protobuf_pack(message, value);
}

static void write_bytes(struct buffer *message, unsigned field, const void *bytes, size_t size)
{
	protobuf_pack(message, (uint64_t)field << WIRE_BITS | WIRE_BYTES);
	protobuf_pack(message, size);
	buffer_append(message, bytes, size);
}

void protobuf_message(struct buffer *message, unsigned field, const struct buffer *inner)
{
	message->failed = message->failed || inner->failed;
	write_bytes(message, field, inner->bytes, inner->size);
}
