// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Going through an archive's members, each held against the manifest.
#include "archive/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/late/late_archive.h"
#include "elf/elf_image.h"

enum {
	STEP_BYTES = 1 << 20,
	// No file that people pack shrinks to a thousandth: what does is a bomb.
	MOST_RATIO = 1000,
	RATIO_FREE_BYTES = 64 << 20,
	// Objects up to here are held in memory, larger ones in a file.
	MEMORY_BYTES = 64 << 20,
};

static const uint64_t most_bytes = UINT64_C(256) << 30;

struct reader {
	const char *path;
	int fd;
	uint64_t file_bytes;
	struct archive *tar;
	const struct bundle_target *target;
	struct manifest manifest;
	// By index of the manifest's recordings and objects: was read.
	bool *recording_done;
	bool *object_done;
	struct store_batch *batch;
};

static void tar_free(struct archive *tar)
{
	(void)archive_read_free(tar);
}

DEFINE_CLEANUP(struct archive *, tar, tar_free)

static struct imp_error *tar_error(struct archive *tar)
{
	const char *text = archive_error_string(tar);
	return error_new(IMP_ERR_BAD_DATA, "%s", text ? text : "not a tar file");
}

static struct imp_error *tar_open(int fd, struct archive **ret)
{
	struct imp_error *err = late_archive_load();
	if (err)
		return err;
	_cleanup_(cleanup_tar) struct archive *tar = archive_read_new();
	if (!tar)
		return &imp_error_no_memory;
	if (archive_read_support_filter_zstd(tar) != ARCHIVE_OK ||
	    archive_read_support_format_tar(tar) != ARCHIVE_OK ||
	    archive_read_open_fd(tar, fd, STEP_BYTES) != ARCHIVE_OK)
		return tar_error(tar);
	*ret = steal(tar);
	return NULL;
}

// Reads exactly SIZE bytes of the member at hand.
static struct imp_error *read_member(struct archive *tar, void *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		la_ssize_t got = archive_read_data(tar, (uint8_t *)bytes + at, size - at);
		if (got < 0)
			return tar_error(tar);
		if (got == 0)
			return error_new(IMP_ERR_BAD_DATA, "shorter than the manifest says");
		at += (size_t)got;
	}
	return NULL;
}

static struct imp_error *check_plain(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry) || archive_entry_symlink(entry) ||
	    archive_entry_filetype(entry) != AE_IFREG)
		return error_new(IMP_ERR_BAD_DATA, "not a plain file");
	if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0)
		return error_new(IMP_ERR_BAD_DATA, "without a size");
	return NULL;
}

static struct imp_error *read_manifest(struct archive *tar, struct manifest *ret)
{
	struct archive_entry *entry;
	if (archive_read_next_header(tar, &entry) != ARCHIVE_OK)
		return tar_error(tar);
	const char *name = archive_entry_pathname(entry);
	if (!name || strcmp(name, "manifest.json") != 0)
		return error_new(IMP_ERR_BAD_DATA, "not an imprint archive: it begins with '%s'",
				 name ? name : "");
	struct imp_error *err = check_plain(entry);
	if (!err && archive_entry_size(entry) > MANIFEST_MOST_BYTES)
		err = error_new(IMP_ERR_BAD_DATA, "larger than any manifest");
	if (err)
		return error_context(err, "member 'manifest.json'");
	size_t size = (size_t)archive_entry_size(entry);
	_cleanup_free_ char *text = malloc(size + 1);
	if (!text)
		return &imp_error_no_memory;
	err = read_member(tar, text, size);
	return err ? err : manifest_read(text, size, ret);
}

// What the manifest promises must be possible, and be wanted.
static struct imp_error *check_claims(const struct reader *reader)
{
	uint64_t sum = 0;
	bool overflow = false;
	for (size_t i = 0; i < reader->manifest.recordings.count; i++)
		overflow |= __builtin_add_overflow(
			sum, reader->manifest.recordings.items[i].size_bytes, &sum);
	for (size_t i = 0; i < reader->manifest.objects.count; i++)
		if (!reader->manifest.objects.items[i].is_elsewhere)
			overflow |= __builtin_add_overflow(
				sum, reader->manifest.objects.items[i].size_bytes, &sum);
	uint64_t most = reader->target->most_bytes ? reader->target->most_bytes : most_bytes;
	if (overflow || sum > most)
		return error_new(IMP_ERR_BAD_DATA,
				 "member 'manifest.json': claims more than %llu bytes",
				 (unsigned long long)most);
	if (sum > RATIO_FREE_BYTES && sum / MOST_RATIO > reader->file_bytes)
		return error_new(IMP_ERR_BAD_DATA,
				 "member 'manifest.json': claims %llu bytes, more than a file of "
				 "%llu can hold",
				 (unsigned long long)sum, (unsigned long long)reader->file_bytes);
	return NULL;
}

static struct imp_error *check_hash(const struct store_hash *found, const struct store_hash *wanted)
{
	if (store_hash_equal(found, wanted))
		return NULL;
	return error_new(IMP_ERR_BAD_DATA,
			 "its content is not what the manifest says (hash %.12s…)",
			 store_hash_text(found).text);
}

// Copies SIZE bytes of the member at hand to FD.
static struct imp_error *spool(struct reader *reader, int fd, uint64_t size)
{
	_cleanup_free_ uint8_t *bytes = malloc(STEP_BYTES);
	struct imp_error *err = bytes ? NULL : &imp_error_no_memory;
	for (uint64_t at = 0; !err && at < size;) {
		size_t step = size - at < STEP_BYTES ? (size_t)(size - at) : STEP_BYTES;
		err = read_member(reader->tar, bytes, step);
		if (!err)
			err = file_write(fd, "file", bytes, step);
		at += step;
	}
	return err;
}

static struct imp_error *take_recording(struct reader *reader, size_t index)
{
	const struct manifest_recording *recording = &reader->manifest.recordings.items[index];
	const struct bundle_target *target = reader->target;
	_cleanup_close_ int fd = -1;
	struct imp_error *err = target->begin ? target->begin(target->arg, recording, &fd) : NULL;
	if (err || fd < 0)
		return err;
	struct store_hash hash;
	uint64_t size;
	err = spool(reader, fd, recording->size_bytes);
	if (!err)
		err = store_hash_of_fd(fd, recording->name, &hash, &size);
	if (!err)
		err = check_hash(&hash, &recording->hash);
	struct imp_error *second = target->end ? target->end(target->arg, recording, !err) : NULL;
	if (err && second)
		imp_error_free(second);
	return err ? err : second;
}

static bool has_own_id(enum store_role role)
{
	return role == STORE_EXECUTABLE || role == STORE_DEBUG || role == STORE_VDSO;
}

static struct imp_error *check_id(const struct manifest_object *object,
				  const struct build_id *found)
{
	if (!has_own_id(object->role) || !build_id_compare(found, &object->id))
		return NULL;
	return error_new(IMP_ERR_BAD_DATA, "its build ID is %s, the manifest says %s",
			 build_id_is_none(found) ? "none" : build_id_text(found).text,
			 build_id_is_none(&object->id) ? "none" : build_id_text(&object->id).text);
}

// All entries of the manifest that have the content of object FIRST: one content may have several
// IDs or roles.
static struct imp_error *add_each(struct reader *reader, size_t first, int fd)
{
	const struct manifest_object *objects = reader->manifest.objects.items;
	struct build_id id = { 0 };
	struct imp_error *err = elf_build_id_read_fd(fd, "object", 0, &id);
	for (size_t i = first; !err && i < reader->manifest.objects.count; i++) {
		const struct manifest_object *object = &objects[i];
		if (!store_hash_equal(&object->hash, &objects[first].hash))
			break;
		reader->object_done[i] = true;
		struct store_item item = { .id = object->id,
					   .role = object->role,
					   .rank = object->rank,
					   .path = object->path };
		err = check_id(object, &id);
		if (!err)
			err = store_batch_add_fd(reader->batch, &item, fd);
	}
	return err;
}

static struct imp_error *take_object(struct reader *reader, size_t index)
{
	const struct manifest_object *object = &reader->manifest.objects.items[index];
	reader->object_done[index] = true;
	if (!reader->batch)
		return NULL;
	bool in_memory = object->size_bytes <= MEMORY_BYTES;
	_cleanup_close_ int fd = in_memory ? memfd_create("object", MFD_CLOEXEC)
					   : store_spool(reader->target->store);
	if (fd < 0)
		return error_system(errno, "no place for an object");
	struct store_hash hash;
	uint64_t size;
	struct imp_error *err = spool(reader, fd, object->size_bytes);
	if (!err)
		err = store_hash_of_fd(fd, "object", &hash, &size);
	if (!err)
		err = check_hash(&hash, &object->hash);
	return err ? err : add_each(reader, index, fd);
}

// The part of NAME after PREFIX, or NULL.
static const char *after(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(name, prefix, length) ? NULL : name + length;
}

static bool find_recording(const struct reader *reader, const char *name, size_t *ret)
{
	for (*ret = 0; *ret < reader->manifest.recordings.count; ++*ret)
		if (!strcmp(reader->manifest.recordings.items[*ret].name, name))
			return true;
	return false;
}

// The first of the objects with the hash that NAME is.
static bool find_object(const struct reader *reader, const char *name, size_t *ret)
{
	struct store_hash hash;
	if (!store_hash_parse(name, &hash))
		return false;
	const struct manifest_object *objects = reader->manifest.objects.items;
	size_t low = 0;
	for (size_t high = reader->manifest.objects.count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (memcmp(objects[middle].hash.bytes, hash.bytes, sizeof hash.bytes) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < reader->manifest.objects.count && store_hash_equal(&objects[low].hash, &hash);
}

static struct imp_error *check_member(bool *is_done, uint64_t claimed, uint64_t size)
{
	if (*is_done)
		return error_new(IMP_ERR_BAD_DATA, "there twice");
	*is_done = true;
	if (size == claimed)
		return NULL;
	return error_new(IMP_ERR_BAD_DATA, "%llu bytes, the manifest says %llu",
			 (unsigned long long)size, (unsigned long long)claimed);
}

static struct imp_error *take_member(struct reader *reader, struct archive_entry *entry,
				     const char *name)
{
	struct imp_error *err = check_plain(entry);
	if (err)
		return err;
	uint64_t size = (uint64_t)archive_entry_size(entry);
	size_t index;
	const char *rest = after(name, "recordings/");
	if (rest && find_recording(reader, rest, &index)) {
		err = check_member(&reader->recording_done[index],
				   reader->manifest.recordings.items[index].size_bytes, size);
		return err ? err : take_recording(reader, index);
	}
	rest = after(name, "objects/");
	if (rest && find_object(reader, rest, &index)) {
		err = check_member(&reader->object_done[index],
				   reader->manifest.objects.items[index].size_bytes, size);
		return err ? err : take_object(reader, index);
	}
	return error_new(IMP_ERR_BAD_DATA, "not in the manifest");
}

static struct imp_error *take_members(struct reader *reader)
{
	for (;;) {
		struct archive_entry *entry;
		int status = archive_read_next_header(reader->tar, &entry);
		if (status == ARCHIVE_EOF)
			return NULL;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return tar_error(reader->tar);
		const char *name = archive_entry_pathname(entry);
		_cleanup_free_ char *copy = strdup(name ? name : "");
		if (!copy)
			return &imp_error_no_memory;
		struct imp_error *err = take_member(reader, entry, copy);
		if (err)
			return error_context(err, "member '%s'", copy);
	}
}

static struct imp_error *check_complete(const struct reader *reader)
{
	for (size_t i = 0; i < reader->manifest.recordings.count; i++)
		if (!reader->recording_done[i])
			return error_new(IMP_ERR_BAD_DATA, "member 'recordings/%s' is missing",
					 reader->manifest.recordings.items[i].name);
	for (size_t i = 0; i < reader->manifest.objects.count; i++)
		if (!reader->object_done[i] && !reader->manifest.objects.items[i].is_elsewhere)
			return error_new(
				IMP_ERR_BAD_DATA, "member 'objects/%s' is missing",
				store_hash_text(&reader->manifest.objects.items[i].hash).text);
	return NULL;
}

static struct imp_error *reader_begin(struct reader *reader)
{
	reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	if (reader->fd < 0 || fstat(reader->fd, &stat) < 0)
		return error_system(errno, "cannot open");
	reader->file_bytes = (uint64_t)stat.st_size;
	struct imp_error *err = tar_open(reader->fd, &reader->tar);
	return err ? err : read_manifest(reader->tar, &reader->manifest);
}

static void reader_end(struct reader *reader)
{
	cleanup_tar(&reader->tar);
	cleanup_close(&reader->fd);
	store_batch_free(reader->batch);
	free(reader->recording_done);
	free(reader->object_done);
	manifest_fini(&reader->manifest);
}

static struct imp_error *read_all(struct reader *reader)
{
	struct imp_error *err = reader_begin(reader);
	if (!err)
		err = check_claims(reader);
	if (err)
		return err;
	reader->recording_done = calloc(reader->manifest.recordings.count + 1, sizeof(bool));
	reader->object_done = calloc(reader->manifest.objects.count + 1, sizeof(bool));
	if (!reader->recording_done || !reader->object_done)
		return &imp_error_no_memory;
	if (reader->target->store)
		err = store_batch_new(reader->target->store, &reader->batch);
	if (!err)
		err = take_members(reader);
	if (!err)
		err = check_complete(reader);
	if (!err && reader->batch)
		err = store_batch_commit(steal(reader->batch), NULL);
	return err;
}

struct imp_error *bundle_read(const char *path, const struct bundle_target *target,
			      struct manifest *ret)
{
	struct reader reader = { .path = path, .fd = -1, .target = target };
	struct imp_error *err = read_all(&reader);
	if (!err) {
		*ret = reader.manifest;
		reader.manifest = (struct manifest){ 0 };
	}
	reader_end(&reader);
	return err ? error_context(err, "%s", path) : NULL;
}

struct imp_error *bundle_manifest(const char *path, struct manifest *ret)
{
	struct reader reader = { .path = path, .fd = -1 };
	struct imp_error *err = reader_begin(&reader);
	if (!err) {
		*ret = reader.manifest;
		reader.manifest = (struct manifest){ 0 };
	}
	reader_end(&reader);
	return err ? error_context(err, "%s", path) : NULL;
}

bool bundle_is(const char *path)
{
	static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t magic[sizeof zstd_magic];
	if (fd < 0 || pread(fd, magic, sizeof magic, 0) != sizeof magic ||
	    memcmp(magic, zstd_magic, sizeof magic) != 0)
		return false;
	_cleanup_(cleanup_tar) struct archive *tar = NULL;
	_cleanup_error_ struct imp_error *err = tar_open(fd, &tar);
	struct archive_entry *entry;
	if (err || archive_read_next_header(tar, &entry) != ARCHIVE_OK)
		return false;
	const char *name = archive_entry_pathname(entry);
	return name && !strcmp(name, "manifest.json");
}
