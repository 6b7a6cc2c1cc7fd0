// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files that were added before, told by their path and stat(2) alone: the sights of a directory are
// read at once, when the first of its files is asked for.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/hex.h"
#include "base/table.h"
#include "store/beneath.h"
#include "store/journal.h"
#include "store/root.h"

struct store_seen {
	struct store *store;
	int64_t now_s;
	// Shards that were read, by their number; sights of all of them, and by their paths.
	bool is_read[4096];
	struct journal sights;
	struct table by_path;
	// ".build-id/ab" by its byte, opened when it is first asked for; 0 and -1: not, cannot be.
	int shards[256];
};

struct imp_error *store_seen_new(struct store *store, struct store_seen **ret)
{
	struct store_seen *seen = calloc(1, sizeof *seen);
	if (!seen)
		return &imp_error_no_memory;
	seen->store = store;
	seen->now_s = time(NULL);
	*ret = seen;
	return NULL;
}

void store_seen_free(struct store_seen *seen)
{
	if (!seen)
		return;
	journal_fini(&seen->sights);
	table_fini(&seen->by_path);
	for (size_t i = 0; i < sizeof seen->shards / sizeof *seen->shards; i++)
		if (seen->shards[i] > 0)
			(void)close(seen->shards[i]);
	free(seen);
}

static uint64_t path_key(const char *path)
{
	return hash_bytes(0, path, strlen(path));
}

static struct imp_error *read_shard(struct store_seen *seen, const char *path)
{
	bool *is_read = &seen->is_read[strtoul(shard_of_path(path).text, NULL, 16) & 0xfff];
	if (*is_read)
		return NULL;
	*is_read = true;
	size_t first = seen->sights.count;
	struct imp_error *err = journal_read_dir(seen->store, path, &seen->sights);
	for (size_t i = first; !err && i < seen->sights.count; i++) {
		const char *at = seen->sights.items[i].path;
		if (at && !table_insert(&seen->by_path, path_key(at), (uint32_t)i))
			err = &imp_error_no_memory;
	}
	return err;
}

// What changed within the clock's tick of being read looks unchanged: such a file's ID is read.
static bool is_settled(const struct journal_line *line)
{
	const int64_t second_ns = 1000000000;
	return line->stamp.ctime_ns < (line->time_s - 1) * second_ns;
}

// The directory from which *PATH, below the store's root, is shortest to look up; *PATH begins
// there then.
static int nearest_dir(struct store_seen *seen, const char **path)
{
	static const char place[] = ".build-id/";
	enum { SHARD_LENGTH = sizeof place + 1 };
	char name[SHARD_LENGTH + 1];
	uint8_t byte;
	if (strncmp(*path, place, sizeof place - 1) != 0 ||
	    !hex_parse(*path + sizeof place - 1, 2, &byte))
		return seen->store->root;
	memcpy(name, *path, SHARD_LENGTH);
	name[SHARD_LENGTH] = 0;
	if (!seen->shards[byte])
		seen->shards[byte] = beneath_open_dir(seen->store->root, name, false);
	if (seen->shards[byte] <= 0)
		return seen->store->root;
	*path += SHARD_LENGTH + 1;
	return seen->shards[byte];
}

static bool has_object(struct store_seen *seen, const struct journal_line *line)
{
	char text[ENTRY_DIR_SIZE + OBJECT_NAME_SIZE];
	const char *path = text;
	struct store_object object = { .role = line->role, .rank = line->rank, .hash = line->hash };
	(void)snprintf(text, sizeof text, "%s/%s", entry_dir_of(&line->entry).text,
		       object_name_of(&object).text);
	int dir = nearest_dir(seen, &path);
	struct stat stat;
	return !fstatat(dir, path, &stat, AT_SYMLINK_NOFOLLOW) && S_ISREG(stat.st_mode);
}

static void touch(struct store_seen *seen, struct journal_line *line)
{
	enum { HOUR = 3600 };
	if (seen->now_s - line->time_s < HOUR)
		return;
	_cleanup_close_ int entry = store_entry_open(seen->store, &line->entry, false);
	if (entry >= 0)
		entry_touch(entry);
}

bool store_seen_knows(struct store_seen *seen, const char *path, const struct stat *stat)
{
	_cleanup_error_ struct imp_error *err = read_shard(seen, path);
	if (err)
		return false;
	struct file_stamp stamp = file_stamp_of(stat);
	uint32_t index;
	struct table_probe probe = table_probe(&seen->by_path, path_key(path));
	while (table_next(&seen->by_path, &probe, &index)) {
		struct journal_line *line = &seen->sights.items[index];
		if (file_stamp_equal(&line->stamp, &stamp) && !strcmp(line->path, path) &&
		    is_settled(line) && has_object(seen, line)) {
			touch(seen, line);
			return true;
		}
	}
	return false;
}
