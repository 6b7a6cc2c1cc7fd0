// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A small text file of build IDs by what stat(2) says of their files.
#include "environment/known_ids.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"

static const char form[] = "imprint-known-ids 1\n";

enum {
	// Oldest lines are forgotten when there is more.
	MOST_BYTES = 256 * 1024,
	// What a file system's clock may lag behind, generously.
	SETTLED_SECONDS = 2,
};

struct file_line {
	char text[160];
};

static struct file_line line_of(const struct stat *file)
{
	struct file_line line;
	snprintf(line.text, sizeof line.text,
		 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIi64 ".%09ld %" PRIi64 ".%09ld ",
		 (uint64_t)file->st_dev, (uint64_t)file->st_ino, (uint64_t)file->st_size,
		 (int64_t)file->st_mtim.tv_sec, file->st_mtim.tv_nsec,
		 (int64_t)file->st_ctim.tv_sec, file->st_ctim.tv_nsec);
	return line;
}

static bool is_our_own(int fd)
{
	struct stat stat;
	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
	       !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

void known_ids_load(struct known_ids *ids, const char *path)
{
	*ids = (struct known_ids){ .path = path };
	_cleanup_close_ int fd =
		path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
	bool is_read = false;
	if (fd >= 0 && is_our_own(fd)) {
		struct imp_error *err = file_slurp(fd, path, MOST_BYTES, &ids->text);
		is_read = !err && ids->text.size >= strlen(form) &&
			  !memcmp(ids->text.bytes, form, strlen(form));
		imp_error_free(err);
	}
	if (!is_read)
		ids->text.size = 0;
}

bool known_ids_find(const struct known_ids *ids, const struct stat *file, struct build_id *ret)
{
	struct file_line line = line_of(file);
	const char *at = (const char *)ids->text.bytes, *end = at ? at + ids->text.size : at;
	for (const char *newline; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			return false;
		size_t length = (size_t)(newline - at), skip = strlen(line.text);
		char id[2 * BUILD_ID_MOST_BYTES + 1];
		if (length <= skip || length - skip >= sizeof id ||
		    memcmp(at, line.text, skip) != 0)
			continue;
		memcpy(id, at + skip, length - skip);
		id[length - skip] = 0;
		if (build_id_parse(id, ret) && !build_id_is_none(ret))
			return true;
	}
	return false;
}

void known_ids_add(struct known_ids *ids, const struct stat *file, const struct build_id *id)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (!ids->path || build_id_is_none(id) ||
	    file->st_ctim.tv_sec > now.tv_sec - SETTLED_SECONDS)
		return;
	if (!ids->text.size)
		buffer_text(&ids->text, form);
	struct build_id_text text = build_id_text(id);
	buffer_format(&ids->text, "%s%s\n", line_of(file).text, text.text);
	ids->has_new = true;
}

// What is written: behind the form's name, the last lines that there is room for.
static const char *lines_kept(const struct known_ids *ids, size_t *size)
{
	const char *text = (const char *)ids->text.bytes, *end = text + ids->text.size;
	const char *first = text + strlen(form);
	enum { MOST_KEPT = MOST_BYTES / 2 };
	if (end - first > MOST_KEPT) {
		const char *newline = memchr(end - MOST_KEPT, '\n', MOST_KEPT);
		first = newline ? newline + 1 : end;
	}
	*size = (size_t)(end - first);
	return first;
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

// Runs at the same time each write a file of their own, and the last one's stays.
void known_ids_save(struct known_ids *ids)
{
	char *name = NULL;
	if (!ids->has_new || ids->text.failed || asprintf(&name, "%s.XXXXXX", ids->path) < 0)
		return;
	make_parents(name);
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0) {
		size_t size;
		const char *lines = lines_kept(ids, &size);
		struct imp_error *err = file_write(fd, name, form, strlen(form));
		if (!err)
			err = file_write(fd, name, lines, size);
		if (close(fd) || err || rename(name, ids->path))
			unlink(name);
		imp_error_free(err);
	}
	free(name);
	ids->has_new = false;
}

void known_ids_fini(struct known_ids *ids)
{
	buffer_fini(&ids->text);
}
