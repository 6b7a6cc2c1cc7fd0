// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lines of journals made and read. Many are read at a time, so there is no scanf here.
#include "store/journal_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/hex.h"

static const char hash_mark[] = "sha256-";

static uint32_t line_check(const char *line, size_t length)
{
	return (uint32_t)crc32(0, (const unsigned char *)line, (unsigned)length);
}

void journal_path_format(struct buffer *out, const char *path)
{
	if (!path || !*path || !strcmp(path, "-")) {
		buffer_text(out, path && *path ? "%2d" : "-");
		return;
	}
	for (; *path; path++) {
		unsigned char byte = (unsigned char)*path;
		if (byte <= ' ' || byte == '%' || byte >= 0x7f)
			buffer_format(out, "%%%02x", byte);
		else
			buffer_append(out, path, 1);
	}
}

static char *unescaped(const char *text)
{
	char *path = malloc(strlen(text) + 1);
	char *at = path;
	while (path && *text) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(text[2]);
		if (low >= 0)
			*at++ = (char)(high << 4 | low);
		else
			*at++ = *text;
		text += low >= 0 ? 3 : 1;
	}
	if (path)
		*at = 0;
	return path;
}

void journal_line_format(struct buffer *out, const struct journal_line *line)
{
	size_t start = out->size;
	struct store_object object = { .role = line->role, .rank = line->rank, .hash = line->hash };
	buffer_format(out,
		      "%c %" PRId64 " %s%s %s %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRId64
		      ":%" PRId64 " ",
		      line->kind, line->time_s, line->entry.is_hash ? hash_mark : "",
		      line->entry.text, object_name_of(&object).text, line->stamp.device,
		      line->stamp.inode, line->stamp.size, line->stamp.mtime_ns,
		      line->stamp.ctime_ns);
	journal_path_format(out, line->path);
	if (!out->failed)
		buffer_format(out, " %08x\n",
			      line_check((const char *)out->bytes + start, out->size - start));
}

// The next word of *at, which is cut off there; NULL at the end.
static char *next_word(char **at)
{
	char *word = *at;
	if (!word)
		return NULL;
	char *space = strchr(word, ' ');
	if (space)
		*space++ = 0;
	*at = space;
	return word;
}

static bool entry_parse(const char *text, struct entry_name *ret)
{
	ret->is_hash = !strncmp(text, hash_mark, sizeof hash_mark - 1);
	if (ret->is_hash)
		text += sizeof hash_mark - 1;
	struct build_id id;
	if (!build_id_parse(text, &id))
		return false;
	hex_format(id.bytes, id.size, ret->text);
	return true;
}

static bool stamp_parse(const char *text, struct file_stamp *ret)
{
	uint64_t numbers[5];
	for (size_t i = 0; i < 5; i++) {
		char *end;
		if ((*text < '0' || *text > '9') && (i < 3 || *text != '-'))
			return false;
		numbers[i] = *text == '-' ? (uint64_t)strtoll(text, &end, 10)
					  : strtoull(text, &end, 10);
		if (*end != (i < 4 ? ':' : 0))
			return false;
		text = end + 1;
	}
	*ret = (struct file_stamp){ numbers[0], numbers[1], numbers[2], (int64_t)numbers[3],
				    (int64_t)numbers[4] };
	return true;
}

static bool object_parse(const char *text, struct journal_line *ret)
{
	struct store_object object = { 0 };
	if (!object_name_parse(text, &object))
		return false;
	ret->role = object.role;
	ret->rank = object.rank;
	ret->hash = object.hash;
	return true;
}

bool journal_line_parse(char *text, size_t length, struct journal_line *ret)
{
	char *check = strrchr(text, ' ');
	if (!check || strlen(text) != length)
		return false;
	char expected[16];
	(void)snprintf(expected, sizeof expected, "%08x", line_check(text, (size_t)(check - text)));
	if (strcmp(check + 1, expected) != 0)
		return false;
	*check = 0;
	char *at = text;
	const char *kind = next_word(&at);
	const char *time = next_word(&at);
	const char *entry = next_word(&at);
	const char *object = next_word(&at);
	const char *stamp = next_word(&at);
	if (!at || strlen(kind) != 1)
		return false;
	char *end;
	ret->kind = kind[0];
	ret->time_s = strtoll(time, &end, 10);
	if (end == time || *end || !entry_parse(entry, &ret->entry) || !object_parse(object, ret) ||
	    !stamp_parse(stamp, &ret->stamp))
		return false;
	ret->path = strcmp(at, "-") ? unescaped(at) : NULL;
	return true;
}
