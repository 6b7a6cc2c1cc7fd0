// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing JSON as a stream: commas, escapes and nesting are kept right, nothing is built in memory.
//
// Text that is not valid UTF-8 is written with each bad byte as U+FFFD, so that the output always
// parses.
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Zero-initialise but for `out` (lent). Set `lines` to get one top-level value a line
// (newline-delimited JSON); otherwise the output is indented.
struct json {
	FILE *out;
	bool lines;
	unsigned depth;
	bool has_item;
	bool after_key;
};

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);
void json_key(struct json *json, const char *key);

// NULL is written as null.
void json_string(struct json *json, const char *value);
void json_uint(struct json *json, uint64_t value);
void json_int(struct json *json, int64_t value);
// NaN and infinities, which JSON lacks, are written as null.
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

// A key with its value.
void json_member_string(struct json *json, const char *key, const char *value);
void json_member_uint(struct json *json, const char *key, uint64_t value);
void json_member_bool(struct json *json, const char *key, bool value);
// An address or offset, as a string "0x…": JSON numbers lose bits above 2^53.
void json_member_hex(struct json *json, const char *key, uint64_t value);

#endif
