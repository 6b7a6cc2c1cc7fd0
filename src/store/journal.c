// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading and appending lines of the journals.
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/hex.h"
#include "store/beneath.h"
#include "store/root.h"

static const char hash_mark[] = "sha256-";

enum {
	// As often as a journal has grown by so much it is rewritten without what is superfluous.
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

static uint32_t line_check(const char *line, size_t length)
{
	return (uint32_t)crc32(0, (const unsigned char *)line, (unsigned)length);
}

static void append_escaped(struct buffer *out, const char *path)
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

static void line_format(struct buffer *out, const struct journal_line *line)
{
	size_t start = out->size;
	buffer_format(out,
		      "%c %" PRId64 " %s%s %s %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRId64
		      ":%" PRId64 " ",
		      line->kind, line->time_s, line->entry.is_hash ? hash_mark : "",
		      line->entry.text, store_hash_text(&line->hash).text, line->stamp.device,
		      line->stamp.inode, line->stamp.size, line->stamp.mtime_ns,
		      line->stamp.ctime_ns);
	append_escaped(out, line->path);
	if (!out->failed)
		buffer_format(out, " %08x\n",
			      line_check((const char *)out->bytes + start, out->size - start));
}

static bool entry_parse(const char *text, struct entry_name *ret)
{
	ret->is_hash = !strncmp(text, hash_mark, sizeof hash_mark - 1);
	if (ret->is_hash)
		text += sizeof hash_mark - 1;
	struct build_id id;
	if (!build_id_parse(text, &id))
		return false;
	memcpy(ret->text, build_id_text(&id).text, sizeof ret->text);
	return true;
}

// Reads one line, NUL-terminated and without its newline, of LENGTH bytes.
static bool line_parse(char *text, size_t length, struct journal_line *ret)
{
	char *check = strrchr(text, ' ');
	if (!check || strlen(text) != length)
		return false;
	char expected[16];
	(void)snprintf(expected, sizeof expected, "%08x", line_check(text, (size_t)(check - text)));
	if (strcmp(check + 1, expected) != 0)
		return false;
	*check = 0;
	char hash[STORE_HASH_TEXT_SIZE];
	char entry[BUILD_ID_TEXT_SIZE + sizeof hash_mark];
	int path_at = -1;
	struct file_stamp *stamp = &ret->stamp;
	if (sscanf(text,
		   "%c %" SCNd64 " %136s %64s %" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNd64
		   ":%" SCNd64 " %n",
		   &ret->kind, &ret->time_s, entry, hash, &stamp->device, &stamp->inode,
		   &stamp->size, &stamp->mtime_ns, &stamp->ctime_ns, &path_at) != 9 ||
	    path_at < 0 || !entry_parse(entry, &ret->entry) || !store_hash_parse(hash, &ret->hash))
		return false;
	const char *path = text + path_at;
	ret->path = strcmp(path, "-") ? unescaped(path) : NULL;
	return true;
}

static bool entry_equal(const struct entry_name *a, const struct entry_name *b)
{
	return a->is_hash == b->is_hash && !strcmp(a->text, b->text);
}

// Which lines of a shard are wanted: those of an entry, those at a path, or (both NULL) all.
struct filter {
	const struct entry_name *entry;
	const char *path;
};

static bool is_wanted(const struct filter *filter, const struct journal_line *line)
{
	if (filter->entry && !entry_equal(filter->entry, &line->entry))
		return false;
	return !filter->path || (line->path && !strcmp(line->path, filter->path));
}

// A line about another entry or path is not worth parsing.
static bool may_be_wanted(const struct filter *filter, const char *line)
{
	return !filter->entry || strstr(line, filter->entry->text);
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
		if (may_be_wanted(filter, at) && line_parse(at, (size_t)(newline - at), &line)) {
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
	(void)snprintf(path.text, sizeof path.text, "paths/%s", shard_of(seen).text);
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
	return shard_read(store, journal_shard(entry).text, &(struct filter){ .entry = entry },
			  ret);
}

struct imp_error *journal_read_path(struct store *store, const char *path, struct journal *ret)
{
	return shard_read(store, path_shard(path).text, &(struct filter){ .path = path }, ret);
}

static bool entry_exists(struct store *store, const struct entry_name *entry)
{
	struct stat stat;
	return !fstatat(store->root, entry_dir_of(entry).text, &stat, AT_SYMLINK_NOFOLLOW);
}

// Later lines that say the same, or many later ones of the same entry, make a line superfluous.
static bool is_superfluous(const struct journal *journal, size_t index)
{
	const struct journal_line *line = &journal->items[index];
	size_t later_ones = 0;
	for (size_t i = index + 1; i < journal->count; i++) {
		const struct journal_line *later = &journal->items[i];
		if (!entry_equal(&later->entry, &line->entry))
			continue;
		if (later->kind == line->kind && store_hash_equal(&later->hash, &line->hash) &&
		    !strcmp(later->path ? later->path : "", line->path ? line->path : ""))
			return true;
		if (++later_ones >= KEPT_LINES)
			return true;
	}
	return false;
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
	_cleanup_buffer_ struct buffer text = { 0 };
	for (size_t i = 0; i < journal.count; i++)
		if (!is_superfluous(&journal, i) && entry_exists(store, &journal.items[i].entry))
			line_format(&text, &journal.items[i]);
	return journal_replace(store, shard, &text);
}

static struct imp_error *shard_append(struct store *store, const char *shard,
				      const struct journal_line *lines, size_t count)
{
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
		line_format(&text, &lines[i]);
	if (text.failed)
		return &imp_error_no_memory;
	struct imp_error *err = file_write(fd, shard, text.bytes, text.size);
	bool is_due = (size + (off_t)text.size) / LONG_BYTES > size / LONG_BYTES;
	return err || !is_due ? err : journal_shorten(store, shard);
}

struct imp_error *journal_append(struct store *store, const struct journal_line *lines,
				 size_t count)
{
	const struct journal_line *first = &lines[0];
	struct imp_error *err =
		shard_append(store, journal_shard(&first->entry).text, lines, count);
	if (err || first->kind != 's' || !first->path)
		return err;
	return shard_append(store, path_shard(first->path).text, first, 1);
}
