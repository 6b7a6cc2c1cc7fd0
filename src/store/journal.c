// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading and appending lines of the journals.
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/table.h"
#include "store/beneath.h"
#include "store/journal_line.h"
#include "store/root.h"

enum {
	// A journal that grows beyond is rewritten without what is superfluous.
	LONG_BYTES = 64 * 1024,
	// What one entry may fill: places beyond are forgotten, the oldest first.
	KEPT_LINES = 64,
	MOST_BYTES = 64 * 1024 * 1024,
};

static int64_t time_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

struct file_stamp file_stamp_of(const struct stat *stat)
{
	return (struct file_stamp){ .device = stat->st_dev,
				    .inode = stat->st_ino,
				    .size = (uint64_t)stat->st_size,
				    .mtime_ns = time_ns(&stat->st_mtim),
				    .ctime_ns = time_ns(&stat->st_ctim) };
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

void journal_fini(struct journal *journal)
{
	for (size_t i = 0; i < journal->count; i++)
		free(journal->items[i].path);
	array_fini(journal);
}

static bool entry_equal(const struct entry_name *a, const struct entry_name *b)
{
	return a->is_hash == b->is_hash && !strcmp(a->text, b->text);
}

// Which lines of a shard are wanted: those of an entry, those at a path, or (both NULL) all.
struct filter {
	const struct entry_name *entry;
	const char *path;
	// What such a line has in it, as it stands there; NULL: nothing that is known.
	const char *mark;
};

static bool is_wanted(const struct filter *filter, const struct journal_line *line)
{
	if (filter->entry && !entry_equal(filter->entry, &line->entry))
		return false;
	return !filter->path || (line->path && !strcmp(line->path, filter->path));
}

static struct imp_error *journal_parse(struct buffer *text, const struct filter *filter,
				       struct journal *ret)
{
	char *at = (char *)text->bytes;
	char *end = at + text->size;
	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		*newline = 0;
		struct journal_line line = { 0 };
		// A line about another entry or path is not worth parsing.
		if ((!filter->mark || strstr(at, filter->mark)) &&
		    journal_line_parse(at, (size_t)(newline - at), &line)) {
			struct journal_line *slot = NULL;
			bool wanted = is_wanted(filter, &line);
			if (wanted && (slot = array_add(ret)))
				*slot = line;
			else
				free(line.path);
			if (wanted && !slot)
				return &imp_error_no_memory;
		}
		at = newline + 1;
	}
	return NULL;
}

struct shard_path {
	char text[16];
};

static struct shard_path journal_shard(const struct entry_name *entry)
{
	struct shard_path path;
	(void)snprintf(path.text, sizeof path.text, "journal/%s", shard_of(entry->text).text);
	return path;
}

static struct shard_path path_shard(const char *seen)
{
	struct shard_path path;
	(void)snprintf(path.text, sizeof path.text, "paths/%s", shard_of_path(seen).text);
	return path;
}

static struct imp_error *shard_read(struct store *store, const char *shard,
				    const struct filter *filter, struct journal *ret)
{
	_cleanup_close_ int fd = openat(store->home, shard, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EACCES
			       ? NULL
			       : error_system(errno, "%s: cannot open .imprint/%s", store->dir,
					      shard);
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp(fd, shard, MOST_BYTES, &text);
	return err ? err : journal_parse(&text, filter, ret);
}

struct imp_error *journal_read_entry(struct store *store, const struct entry_name *entry,
				     struct journal *ret)
{
	const struct filter filter = { .entry = entry, .mark = entry->text };
	return shard_read(store, journal_shard(entry).text, &filter, ret);
}

struct imp_error *journal_read_path(struct store *store, const char *path, struct journal *ret)
{
	_cleanup_buffer_ struct buffer mark = { 0 };
	journal_path_format(&mark, path);
	buffer_append(&mark, "", 1);
	if (mark.failed)
		return &imp_error_no_memory;
	const struct filter filter = { .path = path, .mark = (const char *)mark.bytes };
	return shard_read(store, path_shard(path).text, &filter, ret);
}

struct imp_error *journal_read_dir(struct store *store, const char *path, struct journal *ret)
{
	return shard_read(store, path_shard(path).text, &(struct filter){ 0 }, ret);
}

static bool entry_exists(struct store *store, const struct entry_name *entry)
{
	struct stat stat;
	return !fstatat(store->root, entry_dir_of(entry).text, &stat, AT_SYMLINK_NOFOLLOW);
}

// What of a journal is kept, gone through from the newest line.
struct keeping {
	const struct journal *journal;
	// The kept lines, by what they say; how often an entry was met, by its name.
	struct table lines;
	struct table entries;
	uint8_t *met;
};

static bool is_repeated(struct keeping *keeping, const struct journal_line *line, uint64_t hash)
{
	uint32_t index;
	struct table_probe probe = table_probe(&keeping->lines, hash);
	while (table_next(&keeping->lines, &probe, &index)) {
		const struct journal_line *later = &keeping->journal->items[index];
		if (later->kind == line->kind && entry_equal(&later->entry, &line->entry) &&
		    store_hash_equal(&later->hash, &line->hash) &&
		    !strcmp(later->path ? later->path : "", line->path ? line->path : ""))
			return true;
	}
	return false;
}

// How many lines of the same entry are kept already; counts this one, too.
static struct imp_error *count_entry(struct keeping *keeping, size_t index, uint8_t *ret)
{
	const struct entry_name *entry = &keeping->journal->items[index].entry;
	uint64_t hash = hash_bytes(0, entry->text, strlen(entry->text));
	uint32_t first;
	struct table_probe probe = table_probe(&keeping->entries, hash);
	while (table_next(&keeping->entries, &probe, &first))
		if (entry_equal(&keeping->journal->items[first].entry, entry)) {
			*ret = keeping->met[first];
			if (*ret < KEPT_LINES)
				keeping->met[first] = (uint8_t)(*ret + 1);
			return NULL;
		}
	*ret = 0;
	keeping->met[index] = 1;
	return table_insert(&keeping->entries, hash, (uint32_t)index) ? NULL : &imp_error_no_memory;
}

// Later lines that say the same, or many later ones of the same entry, make a line superfluous.
static struct imp_error *look_at_line(struct keeping *keeping, size_t index, bool *is_kept)
{
	const struct journal_line *line = &keeping->journal->items[index];
	uint64_t hash = hash_bytes((uint64_t)line->kind, line->hash.bytes, sizeof line->hash.bytes);
	if (line->path)
		hash = hash_bytes(hash, line->path, strlen(line->path));
	*is_kept = !is_repeated(keeping, line, hash);
	if (!*is_kept)
		return NULL;
	uint8_t met;
	struct imp_error *err = count_entry(keeping, index, &met);
	*is_kept = !err && met < KEPT_LINES;
	if (*is_kept && !table_insert(&keeping->lines, hash, (uint32_t)index))
		err = &imp_error_no_memory;
	return err;
}

static struct imp_error *choose_lines(const struct journal *journal, bool *is_kept)
{
	struct keeping keeping = { .journal = journal,
				   .met = calloc(journal->count + 1, sizeof(uint8_t)) };
	struct imp_error *err = keeping.met ? NULL : &imp_error_no_memory;
	for (size_t i = journal->count; !err && i > 0; i--)
		err = look_at_line(&keeping, i - 1, &is_kept[i - 1]);
	table_fini(&keeping.lines);
	table_fini(&keeping.entries);
	free(keeping.met);
	return err;
}

static struct imp_error *journal_replace(struct store *store, const char *shard,
					 const struct buffer *text)
{
	struct tmp_name name = tmp_name_new();
	_cleanup_close_ int fd = openat(store->tmp, name.text,
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_system(errno, "%s: cannot create a file", store->dir);
	struct imp_error *err = text->failed ? &imp_error_no_memory
					     : file_write(fd, shard, text->bytes, text->size);
	if (!err && (fdatasync(fd) < 0 || renameat(store->tmp, name.text, store->home, shard) < 0))
		err = error_system(errno, "%s: cannot write .imprint/%s", store->dir, shard);
	if (err)
		(void)unlinkat(store->tmp, name.text, 0);
	return err;
}

static struct imp_error *journal_shorten(struct store *store, const char *shard)
{
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = shard_read(store, shard, &(struct filter){ 0 }, &journal);
	if (err)
		return err;
	_cleanup_free_ bool *is_kept = calloc(journal.count + 1, sizeof *is_kept);
	if (!is_kept)
		return &imp_error_no_memory;
	err = choose_lines(&journal, is_kept);
	if (err)
		return err;
	_cleanup_buffer_ struct buffer text = { 0 };
	for (size_t i = 0; i < journal.count; i++)
		if (is_kept[i] && entry_exists(store, &journal.items[i].entry))
			journal_line_format(&text, &journal.items[i]);
	return journal_replace(store, shard, &text);
}

// A long journal is looked through as often as it has doubled.
static bool is_due(size_t before, size_t after)
{
	size_t mark = LONG_BYTES;
	while (mark * 2 <= after)
		mark *= 2;
	return before < mark && after >= mark;
}

// A line, and the shard where it goes.
struct placed {
	struct shard_path shard;
	const struct journal_line *line;
};

static struct imp_error *shard_append(struct store *store, const struct placed *placed,
				      size_t count)
{
	const char *shard = placed->shard.text;
	_cleanup_close_ int fd = openat(
		store->home, shard, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_system(errno, "%s: cannot open .imprint/%s", store->dir, shard);
	off_t size = lseek(fd, 0, SEEK_END);
	_cleanup_buffer_ struct buffer text = { 0 };
	// What a full disk cut short must not swallow this line too.
	if (size > 0)
		buffer_text(&text, "\n");
	for (size_t i = 0; i < count; i++)
		journal_line_format(&text, placed[i].line);
	if (text.failed)
		return &imp_error_no_memory;
	struct imp_error *err = file_write(fd, shard, text.bytes, text.size);
	size_t before = size > 0 ? (size_t)size : 0;
	return err || !is_due(before, before + text.size) ? err : journal_shorten(store, shard);
}

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left;
	const struct placed *b = right;
	int by_shard = strcmp(a->shard.text, b->shard.text);
	if (by_shard)
		return by_shard;
	return a->line < b->line ? -1 : a->line > b->line;
}

struct imp_error *journal_append(struct store *store, const struct journal_line *lines,
				 size_t count)
{
	_cleanup_free_ struct placed *placed = calloc(2 * count + 1, sizeof *placed);
	if (!placed)
		return &imp_error_no_memory;
	size_t all = 0;
	for (size_t i = 0; i < count; i++) {
		placed[all++] = (struct placed){ journal_shard(&lines[i].entry), &lines[i] };
		if (lines[i].kind == 's' && lines[i].path)
			placed[all++] = (struct placed){ path_shard(lines[i].path), &lines[i] };
	}
	qsort(placed, all, sizeof *placed, compare_placed);
	struct imp_error *err = NULL;
	for (size_t first = 0, next; !err && first < all; first = next) {
		for (next = first + 1; next < all; next++)
			if (strcmp(placed[next].shard.text, placed[first].shard.text) != 0)
				break;
		err = shard_append(store, placed + first, next - first);
	}
	return err;
}
