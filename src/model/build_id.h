// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The build ID: the one name by which this project knows a binary.
//
// 1 to 64 bytes, as in the NT_GNU_BUILD_ID note. All bytes zero is no ID. Written in lower-case
// hex.
#ifndef MODEL_BUILD_ID_H
#define MODEL_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

enum { BUILD_ID_MOST_BYTES = 64, BUILD_ID_TEXT_SIZE = 2 * BUILD_ID_MOST_BYTES + 1 };

// Size 0 is "none". Bytes beyond size are zero.
struct build_id {
	uint8_t size;
	uint8_t bytes[BUILD_ID_MOST_BYTES];
};

struct build_id_text {
	char text[BUILD_ID_TEXT_SIZE];
};

// An ID of SIZE bytes; none when SIZE is 0 or above 64 or all bytes are zero.
struct build_id build_id_of(const void *bytes, uint32_t size);

// Reads a whole ID in hex of either case, an optional "0x" in front. False (and none) when TEXT is
// anything else.
bool build_id_parse(const char *text, struct build_id *ret);

// ID in hex; "" for none. Use as build_id_text(&id).text.
struct build_id_text build_id_text(const struct build_id *id);

static inline bool build_id_is_none(const struct build_id *id)
{
	return id->size == 0;
}

// Same length, same bytes. None equals nothing, not even none.
bool build_id_equal(const struct build_id *a, const struct build_id *b);

// As build_id_equal(), for an ID whose length was not recorded (perf's header tables without the
// size byte and BPF stacks pad with zeros to 20 bytes): PADDED equals ID when the bytes that PADDED
// has beyond ID are zero.
bool build_id_equal_padded(const struct build_id *padded, const struct build_id *id);

// Order by bytes, then by length; for sorted tables.
int build_id_compare(const struct build_id *a, const struct build_id *b);

uint64_t build_id_hash(const struct build_id *id);

#endif
