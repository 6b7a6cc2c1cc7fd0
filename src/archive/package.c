// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Going through a package, and through the tar file in it.
#include "archive/package.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/late/late_archive.h"

enum {
	STEP_BYTES = 1 << 18,
	// Members up to here are held in memory, larger ones in a file.
	MEMORY_BYTES = 64 << 20,
	// No package shrinks to a thousandth: what does is a bomb.
	MOST_RATIO = 1000,
	RATIO_FREE_BYTES = 64 << 20,
};

struct reader {
	const struct package_target *target;
	uint64_t most_bytes;
	uint64_t read_bytes;
	uint8_t *bytes;
};

// A package's archive, or the one in it, which is read through OUTER.
struct layer {
	struct archive *archive;
	struct archive *outer;
	uint8_t *room;
};

static void layer_fini(struct layer *layer)
{
	if (layer->archive)
		(void)archive_read_free(layer->archive);
	free(layer->room);
}

static struct imp_error *archive_failure(struct archive *archive)
{
	const char *text = archive_error_string(archive);
	return error_new(IMP_ERR_BAD_DATA, "%s", text ? text : "not a package");
}

static struct imp_error *layer_new(struct layer *layer, struct archive *outer)
{
	*layer = (struct layer){ .archive = archive_read_new(),
				 .outer = outer,
				 .room = malloc(STEP_BYTES) };
	if (!layer->archive || !layer->room)
		return &imp_error_no_memory;
	(void)archive_read_support_filter_all(layer->archive);
	(void)archive_read_support_format_ar(layer->archive);
	(void)archive_read_support_format_cpio(layer->archive);
	(void)archive_read_support_format_tar(layer->archive);
	return NULL;
}

static la_ssize_t read_outer(struct archive *archive, void *arg, const void **bytes)
{
	struct layer *layer = arg;
	la_ssize_t got = archive_read_data(layer->outer, layer->room, STEP_BYTES);
	if (got < 0)
		archive_set_error(archive, EIO, "%s", archive_error_string(layer->outer));
	*bytes = layer->room;
	return got < 0 ? -1 : got;
}

// The next up to SIZE bytes of the member at hand; *got is less only at its end.
static struct imp_error *read_member(struct reader *reader, struct archive *archive, size_t size,
				     size_t *got)
{
	*got = 0;
	while (*got < size) {
		la_ssize_t more = archive_read_data(archive, reader->bytes + *got, size - *got);
		if (more < 0)
			return archive_failure(archive);
		if (!more)
			break;
		*got += (size_t)more;
	}
	reader->read_bytes += *got;
	if (reader->read_bytes > reader->most_bytes)
		return error_new(
			IMP_ERR_BAD_DATA,
			"unpacks to more than %llu bytes, which no package of its size does",
			(unsigned long long)reader->most_bytes);
	return NULL;
}

static int open_room(const struct reader *reader, uint64_t size)
{
	if (size <= MEMORY_BYTES)
		return memfd_create("member", MFD_CLOEXEC);
	return store_spool(reader->target->store);
}

// Copies the member, of which GOT bytes are read, to FD.
static struct imp_error *spool(struct reader *reader, struct archive *archive, int fd, size_t got)
{
	struct imp_error *err = NULL;
	while (!err && got) {
		err = file_write(fd, "member", reader->bytes, got);
		if (!err)
			err = read_member(reader, archive, STEP_BYTES, &got);
	}
	return err;
}

static struct imp_error *take_member(struct reader *reader, struct archive *archive,
				     struct archive_entry *entry, const char *name)
{
	const struct package_target *target = reader->target;
	size_t got;
	struct imp_error *err = read_member(reader, archive, STEP_BYTES, &got);
	if (err)
		return err;
	bool is_elf = got >= SELFMAG && !memcmp(reader->bytes, ELFMAG, SELFMAG);
	if (!is_elf && !(target->wants && target->wants(name)))
		return NULL;
	// Without a size it may be large.
	bool has_size = archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0;
	_cleanup_close_ int fd =
		open_room(reader, has_size ? (uint64_t)archive_entry_size(entry) : UINT64_MAX);
	if (fd < 0)
		return error_system(errno, "no place for it");
	err = spool(reader, archive, fd, got);
	return err ? err : target->visit(target->arg, name, fd);
}

// ar(1) notes the mode without the type of the file.
static bool is_plain(struct archive_entry *entry)
{
	bool has_no_type = !archive_entry_filetype(entry);
	return !archive_entry_hardlink(entry) && !archive_entry_symlink(entry) &&
	       (has_no_type || archive_entry_filetype(entry) == AE_IFREG);
}

static bool is_nested(const char *name)
{
	return !strncmp(name, "data.tar", 8);
}

static struct imp_error *read_inner(struct reader *reader, struct archive *outer);

static struct imp_error *read_members(struct reader *reader, const struct layer *layer)
{
	for (;;) {
		struct archive_entry *entry;
		int status = archive_read_next_header(layer->archive, &entry);
		if (status == ARCHIVE_EOF)
			return NULL;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return archive_failure(layer->archive);
		if (!is_plain(entry))
			continue;
		const char *pathname = archive_entry_pathname(entry);
		_cleanup_free_ char *name = strdup(pathname ? pathname : "");
		if (!name)
			return &imp_error_no_memory;
		struct imp_error *err = !layer->outer && is_nested(name)
						? read_inner(reader, layer->archive)
						: take_member(reader, layer->archive, entry, name);
		if (err)
			return error_context(err, "member '%s'", name);
	}
}

// The tar file that is the member at hand of OUTER.
static struct imp_error *read_inner(struct reader *reader, struct archive *outer)
{
	struct layer inner;
	struct imp_error *err = layer_new(&inner, outer);
	if (!err && archive_read_open(inner.archive, &inner, NULL, read_outer, NULL) != ARCHIVE_OK)
		err = archive_failure(inner.archive);
	if (!err)
		err = read_members(reader, &inner);
	layer_fini(&inner);
	return err;
}

static struct imp_error *read_package(int fd, const struct package_target *target)
{
	struct stat stat;
	if (fstat(fd, &stat) < 0)
		return error_system(errno, "cannot stat");
	struct reader reader = { .target = target,
				 .most_bytes =
					 (uint64_t)stat.st_size * MOST_RATIO + RATIO_FREE_BYTES,
				 .bytes = malloc(STEP_BYTES) };
	struct layer layer;
	struct imp_error *err = layer_new(&layer, NULL);
	if (!err && !reader.bytes)
		err = &imp_error_no_memory;
	if (!err && archive_read_open_fd(layer.archive, fd, STEP_BYTES) != ARCHIVE_OK)
		err = archive_failure(layer.archive);
	if (!err)
		err = read_members(&reader, &layer);
	layer_fini(&layer);
	free(reader.bytes);
	return err;
}

struct imp_error *package_read(const char *path, const struct package_target *target)
{
	struct imp_error *absent = late_archive_load();
	if (absent)
		return absent;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	struct imp_error *err = read_package(fd, target);
	return err ? error_context(err, "%s", path) : NULL;
}

bool package_is(const char *path)
{
	static const struct {
		const char *bytes;
		size_t size, offset;
	} magics[] = {
		{ "!<arch>\n", 8, 0 }, { "\xed\xab\xee\xdb", 4, 0 }, { "BZh", 3, 0 },
		{ "\x1f\x8b", 2, 0 },  { "\xfd\x37zXZ", 5, 0 },	     { "\x28\xb5\x2f\xfd", 4, 0 },
		{ "ustar", 5, 257 },
	};
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t head[512];
	size_t got = 0;
	_cleanup_error_ struct imp_error *err =
		fd < 0 ? NULL : file_pread(fd, path, head, sizeof head, 0, &got);
	for (size_t i = 0; !err && i < sizeof magics / sizeof *magics; i++)
		if (got >= magics[i].offset + magics[i].size &&
		    !memcmp(head + magics[i].offset, magics[i].bytes, magics[i].size))
			return true;
	return false;
}
