// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Telling images from other files, and whole ones from debug files.
#include "find/intake.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"

// Its code is elsewhere: an executable section that has no bytes here, and none that has.
static bool is_debug_file(const struct elf_image *image)
{
	bool has_hollow = false;
	for (size_t i = 0; i < elf_image_section_count(image); i++) {
		const struct elf_section *section = elf_image_section(image, i);
		if (!(section->flags & SHF_EXECINSTR) || !(section->flags & SHF_ALLOC))
			continue;
		if (section->type != SHT_NOBITS)
			return false;
		has_hollow = true;
	}
	// dwz's common files have no sections of code at all.
	return has_hollow ||
	       (elf_image_has_dwarf(image) && elf_image_section_named(image, ".debug_str") &&
		!elf_image_section_named(image, ".text") && !elf_image_segment_count(image));
}

void intake_describe(const struct elf_image *image, struct store_item *item)
{
	item->id = *elf_image_id(image);
	item->role = is_debug_file(image) ? STORE_DEBUG : STORE_EXECUTABLE;
	if (elf_image_has_dwarf(image))
		item->rank = STORE_DWARF;
	else if (elf_image_has_symtab(image))
		item->rank = STORE_SYMTAB;
	else if (elf_image_section_named(image, ".gnu_debugdata"))
		item->rank = STORE_MINI;
	else
		item->rank = STORE_STRIPPED;
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
static bool is_wanted(const struct elf_image *image)
{
	enum elf_image_type type = elf_image_type(image);
	if (type == ELF_EXECUTABLE || type == ELF_SHARED)
		return true;
	return type == ELF_RELOCATABLE && (!build_id_is_none(elf_image_id(image)) ||
					   elf_image_section_named(image, ".modinfo"));
}

static struct imp_error *add_image(const struct intake *intake, int fd, bool is_packed,
				   const struct stat *stat, const char *path,
				   enum intake_outcome *ret)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return error_system(errno, "%s: cannot duplicate its descriptor", path);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open_fd(own, path, 0, &image);
	if (err && (imp_error_code(err) == IMP_ERR_BAD_DATA ||
		    imp_error_code(err) == IMP_ERR_UNSUPPORTED)) {
		log_message(intake->log, LOG_DEBUG, "%s", imp_error_message(err));
		imp_error_free(err);
		*ret = INTAKE_NO_IMAGE;
		return NULL;
	}
	if (err)
		return err;
	if (!is_wanted(image)) {
		*ret = INTAKE_NO_IMAGE;
		return NULL;
	}
	struct store_item item = { .path = path, .source = stat };
	intake_describe(image, &item);
	*ret = INTAKE_ADDED;
	if (!is_packed)
		return store_batch_add_fd(intake->batch, &item, fd);
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	return store_batch_add_memory(intake->batch, &item, bytes, size);
}

struct imp_error *intake_fd(const struct intake *intake, int fd, const char *path,
			    enum intake_outcome *ret)
{
	struct stat stat;
	if (fstat(fd, &stat) < 0)
		return error_system(errno, "%s: cannot stat", path);
	uint8_t magic[SELFMAG] = { 0 };
	size_t got = 0;
	struct imp_error *err =
		S_ISREG(stat.st_mode) ? file_pread(fd, path, magic, sizeof magic, 0, &got) : NULL;
	if (err)
		return err;
	bool is_elf = got == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
	*ret = INTAKE_NO_IMAGE;
	if (got < SELFMAG || (!is_elf && !intake->unpacks_all && !is_packed_image(path)))
		return NULL;
	struct store_item item = { .path = path };
	err = is_elf ? elf_build_id_read_fd(fd, path, 0, &item.id) : NULL;
	if (err)
		return err;
	if (build_id_is_none(&item.id) ? store_knows_path(intake->store, path, &stat)
				       : store_knows_file(intake->store, &item, &stat)) {
		*ret = INTAKE_KNOWN;
		return NULL;
	}
	return add_image(intake, fd, !is_elf, &stat, path, ret);
}
