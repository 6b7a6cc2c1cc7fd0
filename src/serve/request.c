// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading targets.
#include "serve/request.h"

#include <string.h>

#include "base/hex.h"

static const char *const part_names[SERVE_PARTS] = {
	[SERVE_NOTHING] = "other",	 [SERVE_EXECUTABLE] = "executable",
	[SERVE_DEBUGINFO] = "debuginfo", [SERVE_SOURCE] = "source",
	[SERVE_SECTION] = "section",	 [SERVE_METRICS] = "metrics",
};

const char *serve_part_name(enum serve_part part)
{
	return part_names[part];
}

// Takes %XX out of the LENGTH bytes of TEXT, which *ret (of SIZE bytes) then holds. False when it
// does not fit, an escape is broken or gives a NUL.
static bool decode(const char *text, size_t length, char *ret, size_t size)
{
	size_t at = 0;
	for (size_t i = 0; i < length; i++) {
		char byte = text[i];
		if (byte == '%') {
			int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
			int low = high < 0 ? -1 : hex_digit(text[i + 2]);
			if (low < 0)
				return false;
			byte = (char)(high << 4 | low);
			i += 2;
		}
		if (!byte || at + 1 >= size)
			return false;
		ret[at++] = byte;
	}
	ret[at] = 0;
	return true;
}

bool path_flatten(char *path)
{
	if (*path != '/')
		return false;
	char *out = path;
	const char *in = path;
	while (*in) {
		while (*in == '/')
			in++;
		size_t length = strcspn(in, "/");
		if (length == 2 && !memcmp(in, "..", 2)) {
			if (out == path)
				return false;
			do
				out--;
			while (*out != '/');
		} else if (length && !(length == 1 && *in == '.')) {
			*out++ = '/';
			memmove(out, in, length);
			out += length;
		}
		in += length;
	}
	if (out == path)
		*out++ = '/';
	*out = 0;
	return true;
}

// The next part of the path at *AT, up to its slash or the end; *AT is then behind it, on the
// slash.
static size_t next_part(const char **at, const char **part)
{
	if (**at != '/')
		return 0;
	*part = *at + 1;
	size_t length = strcspn(*part, "/");
	*at = *part + length;
	return length;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(text, word, length);
}

static bool id_parse(const char *text, size_t length, struct build_id *ret)
{
	uint8_t bytes[BUILD_ID_MOST_BYTES];
	if (!length || length % 2 || length > 2 * sizeof bytes || !hex_parse(text, length, bytes))
		return false;
	*ret = build_id_of(bytes, (uint32_t)(length / 2));
	return !build_id_is_none(ret);
}

static enum serve_part word_part(const char *text, size_t length)
{
	for (enum serve_part part = SERVE_EXECUTABLE; part <= SERVE_SECTION; part++)
		if (is_word(text, length, part_names[part]))
			return part;
	return SERVE_NOTHING;
}

// What comes behind the word of PART: nothing, a path, or one name.
static bool rest_parse(enum serve_part part, const char *rest, struct request *ret)
{
	if (part == SERVE_EXECUTABLE || part == SERVE_DEBUGINFO)
		return !*rest;
	if (part == SERVE_SOURCE)
		return decode(rest, strlen(rest), ret->name, sizeof ret->name) &&
		       path_flatten(ret->name) && ret->name[1];
	const char *name;
	size_t length = next_part(&rest, &name);
	return part == SERVE_SECTION && length && !*rest &&
	       decode(name, length, ret->name, REQUEST_SECTION_SIZE) && !strchr(ret->name, '/');
}

static bool target_parse(const char *target, struct request *ret)
{
	const char *word;
	size_t length = next_part(&target, &word);
	if (is_word(word = length ? word : "", length, "metrics") && !*target) {
		ret->part = SERVE_METRICS;
		return true;
	}
	if (!is_word(word, length, "buildid"))
		return false;
	length = next_part(&target, &word);
	if (!length || !id_parse(word, length, &ret->id))
		return false;
	length = next_part(&target, &word);
	ret->part = length ? word_part(word, length) : SERVE_NOTHING;
	return rest_parse(ret->part, target, ret);
}

void request_parse(const char *target, struct request *ret)
{
	*ret = (struct request){ .part = SERVE_NOTHING };
	if (strnlen(target, REQUEST_MOST_BYTES) == REQUEST_MOST_BYTES || !target_parse(target, ret))
		*ret = (struct request){ .part = SERVE_NOTHING };
}
