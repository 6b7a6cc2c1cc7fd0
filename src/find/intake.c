// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Telling images from other files, and whole ones from debug files.
#include "find/intake.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"

void intake_describe(const struct elf_brief *brief, struct store_item *item)
{
	item->role = brief->is_debug_file ? STORE_DEBUG : STORE_EXECUTABLE;
	if (brief->has_dwarf)
		item->rank = STORE_DWARF;
	else if (brief->has_symtab)
		item->rank = STORE_SYMTAB;
	else
		item->rank = brief->has_debugdata ? STORE_MINI : STORE_STRIPPED;
}

void intake_describe_image(const struct elf_image *image, struct store_item *item)
{
	struct elf_brief brief;
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	elf_brief_read_memory(bytes, size, &brief);
	item->id = *elf_image_id(image);
	intake_describe(&brief, item);
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path);
	size_t end = strlen(suffix);
	return length >= end && !strcmp(path + length - end, suffix);
}

// Compressed files that hold images by custom. Unpacking all the others of a tree would cost much
// and find nothing.
static bool is_packed_image(const char *path)
{
	static const char *const suffixes[] = { ".ko.gz", ".ko.xz", ".ko.zst", ".ko.bz2",
						".debug.xz" };
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (has_suffix(path, suffixes[i]))
			return true;
	const char *slash = strrchr(path, '/');
	return !strncmp(slash ? slash + 1 : path, "vmlinuz", 7);
}

// Objects in the middle of a build are no images that run; modules are.
static bool is_wanted(const struct elf_brief *brief, const struct build_id *id)
{
	if (brief->type == ET_EXEC || brief->type == ET_DYN)
		return true;
	return brief->type == ET_REL && (!build_id_is_none(id) || brief->is_module);
}

enum {
	// Files up to here are read once, into memory.
	SMALL_BYTES = 1 << 20,
};

static struct imp_error *check_unchanged(int fd, const char *path, const struct stat *before)
{
	struct stat now;
	if (fstat(fd, &now) < 0)
		return error_system(errno, "%s: cannot stat", path);
	if (now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
		return NULL;
	return error_new(IMP_ERR_SYSTEM, "%s: changed while it was read", path);
}

// As add_plain(), but what the file is, its ID, and the bytes that are kept, come of one reading.
static struct imp_error *add_small(const struct intake *intake, int fd, struct store_item *item,
				   enum intake_outcome *ret)
{
	size_t size = (size_t)item->source->st_size;
	_cleanup_free_ uint8_t *bytes = malloc(size + 1);
	if (!bytes)
		return &imp_error_no_memory;
	size_t got;
	struct imp_error *err = file_pread(fd, item->path, bytes, size, 0, &got);
	if (!err)
		err = check_unchanged(fd, item->path, item->source);
	if (err)
		return err;
	struct elf_brief brief;
	elf_brief_read_memory(bytes, got, &brief);
	item->id = elf_build_id_read_memory(bytes, got);
	if (!is_wanted(&brief, &item->id))
		return NULL;
	intake_describe(&brief, item);
	*ret = INTAKE_ADDED;
	return store_batch_add_memory(intake->batch, item, bytes, got);
}

static struct imp_error *add_plain(const struct intake *intake, int fd, struct store_item *item,
				   enum intake_outcome *ret)
{
	struct elf_brief brief;
	struct imp_error *err = elf_brief_read_fd(fd, item->path, &brief);
	if (err || !is_wanted(&brief, &item->id))
		return err;
	intake_describe(&brief, item);
	*ret = INTAKE_ADDED;
	return store_batch_add_fd(intake->batch, item, fd);
}

static struct imp_error *add_packed(const struct intake *intake, int fd, struct store_item *item,
				    enum intake_outcome *ret)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return error_system(errno, "%s: cannot duplicate its descriptor", item->path);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open_fd(own, item->path, 0, &image);
	if (err && (imp_error_code(err) == IMP_ERR_BAD_DATA ||
		    imp_error_code(err) == IMP_ERR_UNSUPPORTED)) {
		log_message(intake->log, LOG_DEBUG, "%s", imp_error_message(err));
		imp_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	struct elf_brief brief;
	elf_brief_read_memory(bytes, size, &brief);
	item->id = *elf_image_id(image);
	if (!is_wanted(&brief, &item->id))
		return NULL;
	intake_describe(&brief, item);
	*ret = INTAKE_ADDED;
	return store_batch_add_memory(intake->batch, item, bytes, size);
}

static struct imp_error *has_magic(int fd, const char *path, bool *ret)
{
	uint8_t magic[SELFMAG];
	size_t got;
	struct imp_error *err = file_pread(fd, path, magic, sizeof magic, 0, &got);
	*ret = !err && got == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
	return err;
}

struct imp_error *intake_fd(const struct intake *intake, int fd, const char *path,
			    enum intake_outcome *ret)
{
	struct stat stat;
	if (fstat(fd, &stat) < 0)
		return error_system(errno, "%s: cannot stat", path);
	*ret = INTAKE_NO_IMAGE;
	if (!S_ISREG(stat.st_mode))
		return NULL;
	struct store_item item = { .path = path, .source = &stat };
	struct imp_error *err = elf_build_id_read_fd(fd, path, 0, &item.id);
	bool is_elf = !build_id_is_none(&item.id);
	if (!err && !is_elf)
		err = has_magic(fd, path, &is_elf);
	if (err || (!is_elf && !intake->unpacks_all && !is_packed_image(path)))
		return err;
	if (build_id_is_none(&item.id) ? store_knows_path(intake->store, path, &stat)
				       : store_knows_file(intake->store, &item, &stat)) {
		*ret = INTAKE_KNOWN;
		return NULL;
	}
	if (is_elf && stat.st_size <= SMALL_BYTES)
		return add_small(intake, fd, &item, ret);
	return is_elf ? add_plain(intake, fd, &item, ret) : add_packed(intake, fd, &item, ret);
}
