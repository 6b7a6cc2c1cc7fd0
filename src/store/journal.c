// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading and appending lines of an entry's journal.
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/hex.h"
#include "store/beneath.h"

static const char journal_name[] = "journal";

enum {
	// A journal longer than this is rewritten with its newest lines only.
	LONG_BYTES = 64 * 1024,
	KEPT_LINES = 100,
	MOST_BYTES = 4 * 1024 * 1024,
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
	uint64_t hash = hash_bytes(0x696d7072696e74, line, length);
	return (uint32_t)(hash ^ hash >> 32);
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
	buffer_format(
		out,
		"%c %" PRId64 " %s %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRId64 ":%" PRId64 " ",
		line->kind, line->time_s, store_hash_text(&line->hash).text, line->stamp.device,
		line->stamp.inode, line->stamp.size, line->stamp.mtime_ns, line->stamp.ctime_ns);
	append_escaped(out, line->path);
	if (!out->failed)
		buffer_format(out, " %08x\n",
			      line_check((const char *)out->bytes + start, out->size - start));
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
	int path_at = -1;
	struct file_stamp *stamp = &ret->stamp;
	if (sscanf(text,
		   "%c %" SCNd64 " %64s %" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNd64 ":%" SCNd64
		   " %n",
		   &ret->kind, &ret->time_s, hash, &stamp->device, &stamp->inode, &stamp->size,
		   &stamp->mtime_ns, &stamp->ctime_ns, &path_at) != 8 ||
	    path_at < 0 || !store_hash_parse(hash, &ret->hash))
		return false;
	const char *path = text + path_at;
	ret->path = strcmp(path, "-") ? unescaped(path) : NULL;
	return true;
}

static struct imp_error *journal_parse(struct buffer *text, struct journal *ret)
{
	char *at = (char *)text->bytes;
	char *end = at + text->size;
	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		*newline = 0;
		struct journal_line line = { 0 };
		if (line_parse(at, (size_t)(newline - at), &line)) {
			struct journal_line *slot = array_add(ret);
			if (!slot) {
				free(line.path);
				return &imp_error_no_memory;
			}
			*slot = line;
		}
		at = newline + 1;
	}
	return NULL;
}

struct imp_error *journal_read(int entry, struct journal *ret)
{
	_cleanup_close_ int fd = openat(entry, journal_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EACCES
			       ? NULL
			       : error_system(errno, "%s: cannot open", journal_name);
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp(fd, journal_name, MOST_BYTES, &text);
	return err ? err : journal_parse(&text, ret);
}

// Later lines that say the same make a line superfluous.
static bool is_said_later(const struct journal *journal, size_t index)
{
	const struct journal_line *line = &journal->items[index];
	for (size_t i = index + 1; i < journal->count; i++) {
		const struct journal_line *later = &journal->items[i];
		if (later->kind == line->kind && store_hash_equal(&later->hash, &line->hash) &&
		    !strcmp(later->path ? later->path : "", line->path ? line->path : ""))
			return true;
	}
	return false;
}

// The newest KEPT_LINES of JOURNAL, in their order.
static void journal_format_newest(const struct journal *journal, struct buffer *out)
{
	size_t kept[KEPT_LINES];
	size_t count = 0;
	for (size_t i = journal->count; i > 0 && count < KEPT_LINES; i--)
		if (!is_said_later(journal, i - 1))
			kept[count++] = i - 1;
	while (count > 0)
		line_format(out, &journal->items[kept[--count]]);
}

static struct imp_error *journal_shorten(int entry, int tmp)
{
	_cleanup_journal_ struct journal journal = { 0 };
	struct imp_error *err = journal_read(entry, &journal);
	if (err)
		return err;
	_cleanup_buffer_ struct buffer text = { 0 };
	journal_format_newest(&journal, &text);
	struct tmp_name name = tmp_name_new();
	_cleanup_close_ int fd =
		openat(tmp, name.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_system(errno, "%s: cannot create", name.text);
	err = text.failed ? &imp_error_no_memory : file_write(fd, name.text, text.bytes, text.size);
	if (!err && (fdatasync(fd) < 0 || renameat(tmp, name.text, entry, journal_name) < 0))
		err = error_system(errno, "%s: cannot write", journal_name);
	if (err)
		(void)unlinkat(tmp, name.text, 0);
	return err;
}

struct imp_error *journal_append(int entry, int tmp, const struct journal_line *line)
{
	_cleanup_close_ int fd = openat(
		entry, journal_name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", journal_name);
	off_t size = lseek(fd, 0, SEEK_END);
	_cleanup_buffer_ struct buffer text = { 0 };
	// What a full disk cut short must not swallow this line too.
	if (size > 0)
		buffer_text(&text, "\n");
	line_format(&text, line);
	if (text.failed)
		return &imp_error_no_memory;
	struct imp_error *err = file_write(fd, journal_name, text.bytes, text.size);
	if (!err && size > LONG_BYTES)
		err = journal_shorten(entry, tmp);
	return err;
}

int64_t journal_used_s(int entry)
{
	struct stat stat;
	if (fstatat(entry, journal_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return stat.st_mtim.tv_sec;
}

void journal_touch(int entry)
{
	enum { HOUR = 3600 };
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - journal_used_s(entry) < HOUR)
		return;
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, now };
	(void)utimensat(entry, journal_name, times, AT_SYMLINK_NOFOLLOW);
}
