// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Unpacking images: a store of ours from its manifest, others member by member.
#include "archive/image_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "archive/scratch_dir.h"
#include "base/file.h"
#include "base/late/late_archive.h"
#include "store/store.h"

enum { STEP_BYTES = 1 << 20, MOST_MEMBERS = 1 << 20, NAME_SIZE = 64 };

static const uint64_t most_bytes = UINT64_C(64) << 30;

struct image_archive {
	char *dir;
};

struct unpacking {
	const char *path, *dir;
	struct archive *tar;
	uint8_t *room;
	uint64_t bytes;
	unsigned members;
};

void image_archive_close(struct image_archive *archive)
{
	if (!archive)
		return;
	scratch_dir_remove(archive->dir);
	free(archive);
}

const char *image_archive_dir(const struct image_archive *archive)
{
	return archive->dir;
}

static struct imp_error *unpack_ours(const char *path, const char *dir, const struct log *log)
{
	_cleanup_store_ struct store *store = NULL;
	struct imp_error *err = store_open(dir, STORE_WRITE, log, &store);
	if (err)
		return err;
	store_set_transient(store);
	struct bundle_target target = { .store = store, .most_bytes = most_bytes };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	return bundle_read(path, &target, &manifest);
}

// What is compressed is known by the end of its name, and nothing else of it: the last letters of
// NAME that are harmless.
static void harmless_end(const char *name, char *ret)
{
	size_t length = strlen(name), kept = 0;
	while (kept < length && kept < NAME_SIZE - 1) {
		char letter = name[length - kept - 1];
		bool is_harmless = (letter >= 'a' && letter <= 'z') ||
				   (letter >= 'A' && letter <= 'Z') ||
				   (letter >= '0' && letter <= '9') || letter == '.' ||
				   letter == '-' || letter == '_' || letter == '+';
		if (!is_harmless)
			break;
		kept++;
	}
	memcpy(ret, name + length - kept, kept + 1);
}

static struct imp_error *tar_error(const struct unpacking *unpacking)
{
	const char *text = archive_error_string(unpacking->tar);
	return error_new(IMP_ERR_BAD_DATA, "%s: %s", unpacking->path,
			 text ? text : "is no archive that can be read");
}

static struct imp_error *write_member(struct unpacking *unpacking, int fd, const char *name)
{
	for (;;) {
		la_ssize_t got = archive_read_data(unpacking->tar, unpacking->room, STEP_BYTES);
		if (got < 0)
			return tar_error(unpacking);
		if (!got)
			return NULL;
		unpacking->bytes += (uint64_t)got;
		if (unpacking->bytes > most_bytes)
			return error_new(IMP_ERR_UNSUPPORTED, "%s: more than 64 GiB of images",
					 unpacking->path);
		struct imp_error *err = file_write(fd, name, unpacking->room, (size_t)got);
		if (err)
			return err;
	}
}

static struct imp_error *unpack_member(struct unpacking *unpacking, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);
	if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_size(entry) == 0)
		return NULL;
	if (++unpacking->members > MOST_MEMBERS)
		return error_new(IMP_ERR_UNSUPPORTED, "%s: too many members", unpacking->path);
	char end[NAME_SIZE];
	harmless_end(name ? name : "", end);
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/%u-%s", unpacking->dir, unpacking->members, end) < 0) {
		path = NULL;
		return &imp_error_no_memory;
	}
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_system(errno, "%s: cannot write", path);
	return write_member(unpacking, fd, path);
}

static struct imp_error *unpack_all(struct unpacking *unpacking, int fd)
{
	struct archive *tar = unpacking->tar;
	if (archive_read_support_filter_gzip(tar) < ARCHIVE_WARN ||
	    archive_read_support_filter_bzip2(tar) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(tar) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(tar) < ARCHIVE_WARN ||
	    archive_read_support_format_tar(tar) != ARCHIVE_OK ||
	    archive_read_open_fd(tar, fd, STEP_BYTES) != ARCHIVE_OK)
		return tar_error(unpacking);
	struct imp_error *err = NULL;
	for (;;) {
		struct archive_entry *entry;
		int status = archive_read_next_header(tar, &entry);
		if (status == ARCHIVE_EOF || err)
			return err;
		if (status < ARCHIVE_WARN)
			return tar_error(unpacking);
		err = unpack_member(unpacking, entry);
	}
}

static struct imp_error *unpack_others(const char *path, const char *dir)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	struct imp_error *err = late_archive_load();
	if (err)
		return err;
	_cleanup_free_ uint8_t *room = malloc(STEP_BYTES);
	struct unpacking unpacking = {
		.path = path, .dir = dir, .tar = archive_read_new(), .room = room
	};
	err = unpacking.tar && room ? unpack_all(&unpacking, fd) : &imp_error_no_memory;
	if (unpacking.tar)
		(void)archive_read_free(unpacking.tar);
	return err;
}

struct imp_error *image_archive_open(const char *path, const char *tmp_dir, const struct log *log,
				     struct image_archive **ret)
{
	struct image_archive *archive = calloc(1, sizeof *archive);
	if (!archive)
		return &imp_error_no_memory;
	struct imp_error *err = scratch_dir_new(tmp_dir, &archive->dir);
	if (!err)
		err = bundle_is(path) ? unpack_ours(path, archive->dir, log)
				      : unpack_others(path, archive->dir);
	if (err)
		image_archive_close(archive);
	else
		*ret = archive;
	return err;
}
