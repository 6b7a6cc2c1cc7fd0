// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading maps of generated code, in which later lines override earlier ones.
#include "symbolize/perf_map.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hex.h"

static const size_t most_bytes = (size_t)1 << 30;

struct entry {
	uint64_t start, size;
	// Where the name is in the text, and which line this is.
	uint32_t name, line;
};

struct perf_map {
	char *text;
	ARRAY_OF(struct entry) entries;
};

static bool take_hex(const char **at, uint64_t *ret)
{
	const char *digits = *at;
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	uint64_t value = 0;
	const char *end = digits;
	for (; hex_digit(*end) >= 0 && end - digits < 16; end++)
		value = value << 4 | (uint64_t)hex_digit(*end);
	if (end == digits || *end != ' ')
		return false;
	while (*end == ' ')
		end++;
	*at = end;
	*ret = value;
	return true;
}

static bool add_line(struct perf_map *map, char *line, uint32_t number)
{
	struct entry entry = { .line = number };
	const char *at = line;
	if (!take_hex(&at, &entry.start) || !take_hex(&at, &entry.size) || !*at || !entry.size ||
	    entry.size > UINT64_MAX - entry.start)
		return true;
	entry.name = (uint32_t)(at - map->text);
	struct entry *added = array_add(&map->entries);
	if (added)
		*added = entry;
	return added;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

// Of entries with one start only the last line's stays.
static void drop_replaced(struct perf_map *map)
{
	size_t kept = 0;
	for (size_t i = 0; i < map->entries.count; i++) {
		struct entry *entry = &map->entries.items[i];
		if (i + 1 < map->entries.count && entry[1].start == entry->start)
			continue;
		map->entries.items[kept++] = *entry;
	}
	map->entries.count = kept;
}

static struct imp_error *parse_owned(char *text, size_t size, struct perf_map **ret)
{
	struct perf_map *map = calloc(1, sizeof *map);
	if (!map) {
		free(text);
		return &imp_error_no_memory;
	}
	map->text = text;
	uint32_t number = 0;
	for (char *line = text; line < text + size;) {
		char *end = memchr(line, '\n', (size_t)(text + size - line));
		char *next = end ? end + 1 : text + size;
		if (end)
			*end = '\0';
		if (end > line && end[-1] == '\r')
			end[-1] = '\0';
		if (!add_line(map, line, number++)) {
			perf_map_free(map);
			return &imp_error_no_memory;
		}
		line = next;
	}
	if (map->entries.count)
		qsort(map->entries.items, map->entries.count, sizeof *map->entries.items,
		      compare_entries);
	drop_replaced(map);
	*ret = map;
	return NULL;
}

struct imp_error *perf_map_parse(const char *text, size_t size, struct perf_map **ret)
{
	char *copy = malloc(size + 1);
	if (!copy)
		return &imp_error_no_memory;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return parse_owned(copy, size, ret);
}

// /tmp is everybody's: only a regular file counts, of this user, of root, or any for root.
static bool is_acceptable(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_uid == 0 || status.st_uid == geteuid() || geteuid() == 0);
}

struct imp_error *perf_map_open_fd(int fd_taken, const char *path, struct perf_map **ret)
{
	_cleanup_close_ int fd = fd_taken;
	*ret = NULL;
	if (!is_acceptable(fd))
		return NULL;
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp(fd, path, most_bytes, &text);
	if (err)
		return err;
	size_t size = text.size;
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	return parse_owned((char *)steal(text.bytes), size, ret);
}

struct imp_error *perf_map_open(const char *path, struct perf_map **ret)
{
	*ret = NULL;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? NULL : perf_map_open_fd(fd, path, ret);
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	free(map->text);
	array_fini(&map->entries);
	free(map);
}

bool perf_map_at(const struct perf_map *map, uint64_t address, struct perf_map_entry *ret)
{
	size_t low = 0, high = map->entries.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (map->entries.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct entry *entry = low ? &map->entries.items[low - 1] : NULL;
	if (!entry || address - entry->start >= entry->size)
		return false;
	*ret = (struct perf_map_entry){ entry->start, entry->size, map->text + entry->name };
	return true;
}
