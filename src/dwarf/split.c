// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding the file of a split unit, by its ID, and reading it as if it were part of the skeleton's.
#include "dwarf/split.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "dwarf/split_package.h"

struct split_files {
	const struct elf_image *image;
	pthread_mutex_t lock;
	// The package is looked for once; its sections are whole.
	bool has_looked;
	struct elf_image *package;
	struct debug_sections package_sections;
	struct dwarf_loss loss;
	char *lost_path;
};

struct imp_error *split_files_new(const struct elf_image *image, struct split_files **ret)
{
	struct split_files *files = calloc(1, sizeof *files);
	if (!files)
		return &imp_error_no_memory;
	files->image = image;
	pthread_mutex_init(&files->lock, NULL);
	*ret = files;
	return NULL;
}

void split_files_free(struct split_files *files)
{
	if (!files)
		return;
	debug_sections_close(&files->package_sections);
	elf_image_free(files->package);
	free(files->lost_path);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

struct dwarf_loss split_files_loss(struct split_files *files)
{
	pthread_mutex_lock(&files->lock);
	struct dwarf_loss loss = files->loss;
	pthread_mutex_unlock(&files->lock);
	return loss;
}

static struct imp_error *count_loss(struct split_files *files, const char *path, bool is_other)
{
	struct imp_error *err = NULL;
	pthread_mutex_lock(&files->lock);
	if (!files->loss.unit_count++) {
		files->lost_path = strdup(path);
		files->loss.path = files->lost_path;
		err = files->lost_path ? NULL : &imp_error_no_memory;
	}
	files->loss.is_other |= is_other;
	pthread_mutex_unlock(&files->lock);
	return err;
}

// What cannot be opened is not there.
static struct imp_error *open_sections(const char *path, struct elf_image **image,
				       struct debug_sections *sections)
{
	struct imp_error *err = elf_image_open(path, image);
	if (!err)
		err = debug_sections_open_split(*image, sections);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	imp_error_free(err);
	elf_image_free(steal(*image));
	return NULL;
}

// The sections of the unit of ID in the package beside the image; of the package's, lent.
static struct imp_error *look_in_package(struct split_files *files, uint64_t id,
					 struct debug_sections *ret, bool *found)
{
	struct imp_error *err = NULL;
	pthread_mutex_lock(&files->lock);
	if (!files->has_looked) {
		_cleanup_buffer_ struct buffer path = { 0 };
		buffer_format(&path, "%s.dwp", elf_image_path(files->image));
		buffer_append(&path, "", 1);
		err = path.failed ? &imp_error_no_memory
				  : open_sections((const char *)path.bytes, &files->package,
						  &files->package_sections);
		files->has_looked = !err;
	}
	pthread_mutex_unlock(&files->lock);
	*found = false;
	if (err || !files->package)
		return err;
	*ret = files->package_sections;
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		ret->all[i].owned = NULL;
	*found = split_package_narrow(files->package, id, ret);
	return NULL;
}

static struct unit *unit_of_id(const struct debug_file *file, uint64_t id)
{
	for (size_t i = 0; i < file->unit_count; i++)
		if (file->units[i].split_id == id)
			return &file->units[i];
	return NULL;
}

// Tells UNIT what only its skeleton knows.
static void complete(struct unit *unit, const struct unit *skeleton)
{
	bool is_long = unit->encoding.offset_size == 8, is_new = unit->encoding.version >= 5;
	unit->low_pc = skeleton->low_pc;
	unit->has_low_pc = skeleton->has_low_pc;
	unit->addr_base = skeleton->addr_base;
	unit->ranges_base = skeleton->split_ranges_base;
	// The tables of a split unit are the only ones in its sections, behind a header.
	unit->str_offsets_base = !is_new ? 0 : is_long ? 16 : 8;
	unit->rnglists_base = is_long ? 20 : 12;
}

// Reads the units of SECTIONS (taken) and finds the one that SKELETON stands for, lent by SPLIT;
// NULL without.
static struct imp_error *read_split(const struct debug_file *file, const struct unit *skeleton,
				    struct debug_sections *sections, struct debug_file *split,
				    const struct unit **ret)
{
	*split = (struct debug_file){ .sections = *sections,
				      .code_start = file->code_start,
				      .code_end = file->code_end };
	*sections = (struct debug_sections){ 0 };
	// Addresses, and ranges before DWARF 5, stay where the linker changes them.
	struct section *all = split->sections.all;
	all[DEBUG_ADDR] = file->sections.all[DEBUG_ADDR];
	all[DEBUG_RANGES] = file->sections.all[DEBUG_RANGES];
	all[DEBUG_ADDR].owned = all[DEBUG_RANGES].owned = NULL;
	struct imp_error *err = debug_file_read_units(split);
	struct unit *unit = err ? NULL : unit_of_id(split, skeleton->split_id);
	if (unit)
		complete(unit, skeleton);
	*ret = unit;
	return err;
}

static struct imp_error *keep_names(struct path_pool *pool, struct scope_tree *tree)
{
	for (size_t i = 0; i < tree->names.count; i++) {
		const char *name = tree->names.items[i];
		tree->names.items[i] = path_pool_keep(pool, name, strlen(name));
		if (!tree->names.items[i])
			return &imp_error_no_memory;
	}
	return NULL;
}

// Reads the scopes when SECTIONS (taken) have the unit.
static struct imp_error *read_scopes(const struct debug_file *file, const struct unit *skeleton,
				     struct debug_sections *sections, struct path_pool *pool,
				     struct scope_tree *ret, bool *found)
{
	struct debug_file split = { .units = NULL };
	const struct unit *unit = NULL;
	struct imp_error *err = read_split(file, skeleton, sections, &split, &unit);
	*found = unit;
	if (!err && unit)
		err = scope_tree_read(&split, unit, ret);
	if (!err && unit)
		err = keep_names(pool, ret);
	debug_file_fini(&split);
	return err;
}

// Where a .dwo file may stand: where it was made, and beside the image.
static struct imp_error *dwo_path(const struct split_files *files, const struct unit *skeleton,
				  unsigned number, struct buffer *ret)
{
	const char *name = skeleton->split_name, *image = elf_image_path(files->image);
	const char *slash = strrchr(image, '/'), *name_slash = strrchr(name, '/');
	int length = slash ? (int)(slash - image + 1) : 0;
	ret->size = 0;
	if (number == 0 && name[0] != '/' && skeleton->directory)
		buffer_format(ret, "%s/%s", skeleton->directory, name);
	else if (number == 0)
		buffer_text(ret, name);
	else
		buffer_format(ret, "%.*s%s", length, image,
			      number == 2 && name_slash ? name_slash + 1 : name);
	buffer_append(ret, "", 1);
	return ret->failed ? &imp_error_no_memory : NULL;
}

static struct imp_error *look_for_file(struct split_files *files, const struct debug_file *file,
				       const struct unit *skeleton, struct path_pool *pool,
				       struct scope_tree *ret)
{
	enum { PLACES = 3 };
	_cleanup_buffer_ struct buffer path = { 0 };
	bool found = false, is_other = false;
	struct imp_error *err = NULL;
	for (unsigned i = 0; i < PLACES && !err && !found; i++) {
		_cleanup_elf_image_ struct elf_image *image = NULL;
		struct debug_sections sections = { 0 };
		err = dwo_path(files, skeleton, i, &path);
		if (!err)
			err = open_sections((const char *)path.bytes, &image, &sections);
		if (!err && image)
			err = read_scopes(file, skeleton, &sections, pool, ret, &found);
		is_other |= image && !found;
	}
	if (!err && !found)
		err = dwo_path(files, skeleton, 0, &path);
	return err || found ? err : count_loss(files, (const char *)path.bytes, is_other);
}

struct imp_error *split_scopes_read(struct split_files *files, const struct debug_file *file,
				    const struct unit *skeleton, struct path_pool *pool,
				    struct scope_tree *ret)
{
	struct debug_sections sections;
	bool found;
	struct imp_error *err = look_in_package(files, skeleton->split_id, &sections, &found);
	if (!err && found)
		err = read_scopes(file, skeleton, &sections, pool, ret, &found);
	return err || found ? err : look_for_file(files, file, skeleton, pool, ret);
}
