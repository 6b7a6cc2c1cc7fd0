// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opens what is to be read, and copies to a nameless file what cannot be read in place.
#include "perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/late/late_archive.h"

enum { COPY_STEP = 256 * 1024, MAGIC_SIZE = 6 };

static const struct packing {
	const char *magic;
	size_t size;
} packings[] = {
	{ "\x1f\x8b", 2 },
	{ "\xfd"
	  "7zXZ",
	  6 },
	{ "\x28\xb5\x2f\xfd", 4 },
	{ "BZh", 3 },
};

static bool is_packed(const uint8_t *head, size_t size)
{
	for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
		if (size >= packings[i].size && !memcmp(head, packings[i].magic, packings[i].size))
			return true;
	return false;
}

static struct imp_error *open_nameless(const char *directory, int *ret)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		// A file system without O_TMPFILE.
		_cleanup_free_ char *path = NULL;
		if (asprintf(&path, "%s/imprint-XXXXXX", directory) < 0) {
			path = NULL;
			return &imp_error_no_memory;
		}
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	if (fd < 0)
		return error_system(errno, "%s: cannot make a temporary file", directory);
	*ret = fd;
	return NULL;
}

// What libarchive reads from: first the bytes that were read to recognise the input, then FD.
struct source {
	int fd;
	const char *path;
	uint8_t *bytes;
	size_t head_size;
	struct imp_error *error;
};

static la_ssize_t read_source(struct archive *archive, void *arg, const void **ret)
{
	struct source *source = arg;
	*ret = source->bytes;
	if (source->head_size) {
		size_t size = source->head_size;
		source->head_size = 0;
		return (la_ssize_t)size;
	}
	size_t got = 0;
	source->error = file_read(source->fd, source->path, source->bytes, COPY_STEP, &got);
	if (source->error) {
		archive_set_error(archive, EIO, "cannot read");
		return -1;
	}
	return (la_ssize_t)got;
}

static struct imp_error *unpack_error(struct source *source, struct archive *archive)
{
	if (source->error)
		return steal(source->error);
	const char *why = archive_error_string(archive);
	return error_new(IMP_ERR_BAD_DATA, "%s: cannot unpack: %s", source->path,
			 why ? why : "damaged");
}

// The most bytes that may be unpacked to OUT, which is in DIRECTORY: half of what is free there, so
// that a file which unpacks to very much more than it is does no harm to anybody else.
static struct imp_error *room_of(int out, const char *directory, uint64_t *ret)
{
	struct statvfs status;
	if (fstatvfs(out, &status))
		return error_system(errno, "%s", directory);
	*ret = (uint64_t)status.f_bavail * status.f_frsize / 2;
	return NULL;
}

static struct imp_error *no_room(const struct source *source, const char *directory, uint64_t room)
{
	return error_new(IMP_ERR_UNSUPPORTED,
			 "%s: it unpacks to more than %llu MiB, half of what is free in %s: set "
			 "TMPDIR to a folder with more room, or unpack it first",
			 source->path, (unsigned long long)(room >> 20), directory);
}

static struct imp_error *write_unpacked(struct source *source, struct archive *archive, int out,
					const char *directory)
{
	uint64_t room, written = 0;
	struct imp_error *err = room_of(out, directory, &room);
	if (err)
		return err;
	_cleanup_free_ uint8_t *bytes = malloc(COPY_STEP);
	if (!bytes)
		return &imp_error_no_memory;
	for (;;) {
		la_ssize_t got = archive_read_data(archive, bytes, COPY_STEP);
		if (got == 0)
			return NULL;
		if (got < 0)
			return unpack_error(source, archive);
		written += (uint64_t)got;
		if (written > room)
			return no_room(source, directory, room);
		err = file_write(out, "temporary file", bytes, (size_t)got);
		if (err)
			return err;
	}
}

DEFINE_CLEANUP(struct archive *, archive, archive_read_free)

static struct imp_error *unpack(struct source *source, int out, const char *directory)
{
	struct imp_error *err = late_archive_load();
	if (err)
		return err;
	_cleanup_(cleanup_archive) struct archive *archive = archive_read_new();
	if (!archive)
		return &imp_error_no_memory;
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_bzip2(archive);
	archive_read_support_format_raw(archive);
	struct archive_entry *entry;
	if (archive_read_open(archive, source, NULL, read_source, NULL) != ARCHIVE_OK ||
	    archive_read_next_header(archive, &entry) != ARCHIVE_OK)
		return unpack_error(source, archive);
	return write_unpacked(source, archive, out, directory);
}

static struct imp_error *copy(struct source *source, int out)
{
	size_t got = source->head_size;
	do {
		struct imp_error *err = file_write(out, "temporary file", source->bytes, got);
		if (!err)
			err = file_read(source->fd, source->path, source->bytes, COPY_STEP, &got);
		if (err)
			return err;
	} while (got);
	return NULL;
}

// Replaces INPUT's descriptor by a nameless file with the same bytes, unpacked.
static struct imp_error *spool(struct input *input, struct source *source, bool is_archive,
			       const char *directory)
{
	_cleanup_close_ int out = -1;
	struct imp_error *err = open_nameless(directory, &out);
	if (!err)
		err = is_archive ? unpack(source, out, directory) : copy(source, out);
	if (err)
		return err;
	close(input->fd);
	input->fd = steal_fd(&out);
	return NULL;
}

static struct imp_error *prepare(struct input *input, const char *directory)
{
	struct stat status;
	if (fstat(input->fd, &status))
		return error_system(errno, "%s", input->path);
	if (S_ISDIR(status.st_mode))
		return error_new(IMP_ERR_BAD_DATA, "%s: a directory, not a recording", input->path);
	_cleanup_free_ uint8_t *bytes = malloc(COPY_STEP);
	if (!bytes)
		return &imp_error_no_memory;
	struct source source = { .fd = input->fd, .path = input->path, .bytes = bytes };
	bool is_file = S_ISREG(status.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
	struct imp_error *err =
		file_read(input->fd, input->path, bytes, MAGIC_SIZE, &source.head_size);
	if (err)
		return err;
	bool is_archive = is_packed(bytes, source.head_size);
	if (!is_file || is_archive)
		err = spool(input, &source, is_archive, directory);
	if (err)
		return err;
	if (fstat(input->fd, &status))
		return error_system(errno, "%s", input->path);
	input->size = (uint64_t)status.st_size;
	return NULL;
}

DEFINE_CLEANUP(struct input *, input, input_free)

struct imp_error *input_open(const char *path, const char *directory, struct input **ret)
{
	_cleanup_(cleanup_input) struct input *input = calloc(1, sizeof *input);
	if (!input)
		return &imp_error_no_memory;
	bool is_standard = !strcmp(path, "-");
	input->fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				: open(path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		return error_system(errno, "%s: cannot open", path);
	input->path = strdup(is_standard ? "standard input" : path);
	if (!input->path)
		return &imp_error_no_memory;
	struct imp_error *err = prepare(input, directory);
	if (err)
		return err;
	*ret = steal(input);
	return NULL;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->fd >= 0)
		close(input->fd);
	free(input->path);
	free(input);
}

struct imp_error *input_read(const struct input *input, uint64_t offset, size_t size,
			     struct buffer *ret)
{
	if (offset >= input->size)
		return NULL;
	if (size > input->size - offset)
		size = (size_t)(input->size - offset);
	uint8_t *bytes = buffer_extend(ret, size);
	if (size && !bytes)
		return &imp_error_no_memory;
	size_t got = 0;
	struct imp_error *err = file_pread(input->fd, input->path, bytes, size, offset, &got);
	ret->size -= size - got;
	return err;
}

struct section input_clip(const struct input *input, struct section section)
{
	if (section.offset > input->size)
		return (struct section){ input->size, 0 };
	if (section.size > input->size - section.offset)
		section.size = input->size - section.offset;
	return section;
}
