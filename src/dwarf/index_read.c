// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Mapping a saved index and checking what is taken from it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "dwarf/index.h"
#include "dwarf/index_format.h"

struct index_file {
	char *path;
	const uint8_t *bytes;
	size_t size;
	struct index_header header;
	const struct index_boundary *boundaries;
	const struct index_unit *units;
	const char *strings;
};

static struct imp_error *damaged(const struct index_file *index, const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "%s: damaged index: %s", index->path, what);
}

static struct imp_error *check_header(struct index_file *index, const struct build_id *id)
{
	const struct index_header *header = &index->header;
	if (memcmp(header->magic, INDEX_MAGIC, sizeof header->magic) != 0)
		return error_new(IMP_ERR_BAD_DATA, "%s: not an index", index->path);
	if (header->version != INDEX_VERSION || header->byte_order != INDEX_BYTE_ORDER)
		return error_new(IMP_ERR_UNSUPPORTED, "%s: an index of another version or machine",
				 index->path);
	struct build_id own = build_id_of(header->id, header->id_size);
	if (!build_id_equal(&own, id))
		return error_new(IMP_ERR_MISMATCH, "%s: an index of %s", index->path,
				 build_id_text(&own).text);
	return header->file_size == index->size ? NULL : damaged(index, "it is cut");
}

static struct imp_error *check_directory(struct index_file *index)
{
	const struct index_header *header = &index->header;
	uint64_t boundaries = sizeof(struct index_boundary) * (uint64_t)header->boundary_count;
	uint64_t units = sizeof(struct index_unit) * (uint64_t)header->unit_count;
	if (boundaries + units > index->size - sizeof *header)
		return damaged(index, "more units than bytes");
	if (header->strings_offset > index->size || header->strings_offset < sizeof *header ||
	    header->strings_size != index->size - header->strings_offset ||
	    (header->strings_size && index->bytes[index->size - 1]))
		return damaged(index, "strings outside the file");
	const uint8_t *directory = index->bytes + sizeof *header;
	const uint8_t *strings = index->bytes + header->strings_offset;
	if (index_checksum(header, directory, (size_t)(boundaries + units), strings) !=
	    header->checksum)
		return damaged(index, "the list of units or the strings are not what was written");
	index->boundaries = (const void *)directory;
	index->units = (const void *)(directory + boundaries);
	index->strings = (const char *)strings;
	return NULL;
}

static struct imp_error *map(struct index_file *index, int fd, const struct build_id *id)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return error_system(errno, "%s", index->path);
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof index->header)
		return error_new(IMP_ERR_BAD_DATA, "%s: not an index", index->path);
	void *mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapping == MAP_FAILED)
		return error_system(errno, "%s: cannot map", index->path);
	index->bytes = mapping;
	index->size = (size_t)status.st_size;
	memcpy(&index->header, mapping, sizeof index->header);
	struct imp_error *err = check_header(index, id);
	return err ? err : check_directory(index);
}

struct imp_error *index_open(int fd, const char *path, const struct build_id *id,
			     struct dwarf_sources *sources, struct index_file **ret)
{
	_cleanup_close_ int guarded = fd;
	struct index_file *index = calloc(1, sizeof *index);
	if (!index)
		return &imp_error_no_memory;
	index->path = strdup(path);
	struct imp_error *err = index->path ? map(index, guarded, id) : &imp_error_no_memory;
	if (err) {
		index_free(index);
		return err;
	}
	*sources = index->header.sources;
	*ret = index;
	return NULL;
}

void index_free(struct index_file *index)
{
	if (!index)
		return;
	if (index->bytes)
		munmap((void *)(uintptr_t)index->bytes, index->size);
	free(index->path);
	free(index);
}

size_t index_unit_count(const struct index_file *index)
{
	return index->header.unit_count;
}

struct imp_error *index_boundaries(const struct index_file *index, struct boundaries *ret)
{
	uint64_t previous = 0;
	for (uint32_t i = 0; i < index->header.boundary_count; i++) {
		const struct index_boundary *boundary = &index->boundaries[i];
		bool is_known = boundary->owner == NO_OWNER ||
				boundary->owner < index->header.unit_count;
		if (!is_known || boundary->begin < previous)
			return damaged(index, "units out of order");
		struct boundary *added = array_add(&ret->list);
		if (!added)
			return &imp_error_no_memory;
		*added = (struct boundary){ boundary->begin, boundary->owner };
		previous = boundary->begin;
	}
	return NULL;
}

static struct imp_error *load(const struct index_file *index, const struct index_unit *unit,
			      struct unit_tables *tables)
{
	struct index_arrays at = index_arrays_of(unit);
	uint64_t end = index->header.strings_offset;
	if (unit->offset % 8 || unit->offset > end || at.size > end - unit->offset)
		return damaged(index, "tables outside the file");
	const uint8_t *bytes = index->bytes + unit->offset;
	if (hash_bytes(0, bytes, at.size) != unit->checksum)
		return damaged(index, "a unit is not what was written");
	uint8_t *start = (uint8_t *)(uintptr_t)bytes;
	*tables = (struct unit_tables){
		.base = unit->base,
		.owner_starts = (void *)(start + at.owner_starts),
		.owners = (void *)(start + at.owners),
		.scopes = (void *)(start + at.scopes),
		.row_starts = (void *)(start + at.row_starts),
		.rows = (void *)(start + at.rows),
		.name_places = (void *)(start + at.names),
		.file_places = (void *)(start + at.files),
		.strings = index->strings,
		.strings_size = index->header.strings_size,
		.owner_count = unit->owner_count,
		.scope_count = unit->scope_count,
		.row_count = unit->row_count,
		.name_count = unit->name_count,
		.file_count = unit->file_count,
		.is_mapped = true,
	};
	return NULL;
}

struct imp_error *index_tables(const struct index_file *index, size_t unit,
			       struct unit_tables **ret)
{
	struct unit_tables *tables = calloc(1, sizeof *tables);
	if (!tables)
		return &imp_error_no_memory;
	struct imp_error *err = load(index, &index->units[unit], tables);
	if (err)
		unit_tables_free(tables);
	else
		*ret = tables;
	return err;
}
