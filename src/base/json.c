// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The JSON writer.
#include "base/json.h"

#include <inttypes.h>

static void newline(struct json *json)
{
	if (json->lines && json->depth > 0)
		return;
	putc_unlocked('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void before_item(struct json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->has_item && json->depth > 0)
		putc_unlocked(',', json->out);
	if (json->depth > 0)
		newline(json);
	json->has_item = true;
}

static void after_item(struct json *json)
{
	if (json->depth == 0)
		putc_unlocked('\n', json->out);
}

static void open_bracket(struct json *json, char bracket)
{
	before_item(json);
	putc_unlocked(bracket, json->out);
	json->depth++;
	json->has_item = false;
}

static void close_bracket(struct json *json, char bracket)
{
	json->depth--;
	if (json->has_item && !json->lines)
		newline(json);
	putc_unlocked(bracket, json->out);
	json->has_item = true;
	after_item(json);
}

void json_begin_object(struct json *json)
{
	open_bracket(json, '{');
}

void json_end_object(struct json *json)
{
	close_bracket(json, '}');
}

void json_begin_array(struct json *json)
{
	open_bracket(json, '[');
}

void json_end_array(struct json *json)
{
	close_bracket(json, ']');
}

// The length of the valid UTF-8 sequence at TEXT (no overlong forms, no surrogates), or 0.
static unsigned utf8_length(const unsigned char *text)
{
	unsigned length = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (length == 1)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	for (unsigned i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

// Bytes that stand for themselves: printable ASCII but for quote and backslash.
static const bool is_plain[256] = {
	[' ' ... '"' - 1] = true,
	['"' + 1 ... '\\' - 1] = true,
	['\\' + 1 ... '~'] = true,
};

static size_t plain_length(const unsigned char *text)
{
	size_t length = 0;
	while (is_plain[text[length]])
		length++;
	return length;
}

static void put_quoted(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t plain = plain_length(at);
		if (plain) {
			fwrite_unlocked(at, 1, plain, out);
			at += plain;
			continue;
		}
		unsigned length = utf8_length(at);
		if (length == 0)
			fputs("\\ufffd", out);
		else if (length > 1)
			fwrite_unlocked(at, 1, length, out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else
			fprintf(out, "\\u%04x", *at);
		at += length ? length : 1;
	}
	putc_unlocked('"', out);
}

void json_key(struct json *json, const char *key)
{
	before_item(json);
	put_quoted(json->out, key);
	fputs(json->lines ? ":" : ": ", json->out);
	json->after_key = true;
}

void json_string(struct json *json, const char *value)
{
	if (!value) {
		json_null(json);
		return;
	}
	before_item(json);
	put_quoted(json->out, value);
	after_item(json);
}

void json_uint(struct json *json, uint64_t value)
{
	before_item(json);
	fprintf(json->out, "%" PRIu64, value);
	after_item(json);
}

void json_int(struct json *json, int64_t value)
{
	before_item(json);
	fprintf(json->out, "%" PRId64, value);
	after_item(json);
}

void json_bool(struct json *json, bool value)
{
	before_item(json);
	fputs(value ? "true" : "false", json->out);
	after_item(json);
}

void json_null(struct json *json)
{
	before_item(json);
	fputs("null", json->out);
	after_item(json);
}

void json_member_string(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

void json_member_uint(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_uint(json, value);
}

void json_member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_member_hex(struct json *json, const char *key, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "0x%" PRIx64, value);
	json_member_string(json, key, text);
}
