// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing a saved index, unit by unit, so that no more than one unit's tables need be in memory.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "dwarf/index.h"
#include "dwarf/index_format.h"

struct index_writer {
	int fd;
	const char *path;
	struct index_header header;
	struct index_unit *units;
	size_t unit_count, written;
	struct strings strings;
	ARRAY_OF(uint32_t) string_offsets;
	uint32_t strings_size;
	// Boundaries, then units: what stands between the header and the tables.
	struct buffer directory;
	uint64_t at;
};

static uint64_t directory_size(const struct index_writer *writer)
{
	return sizeof(struct index_boundary) * (uint64_t)writer->header.boundary_count +
	       sizeof(struct index_unit) * (uint64_t)writer->unit_count;
}

static bool put_boundaries(struct index_writer *writer, const struct boundaries *boundaries)
{
	for (size_t i = 0; i < boundaries->list.count; i++) {
		struct index_boundary boundary = { boundaries->list.items[i].begin,
						   boundaries->list.items[i].owner, 0 };
		buffer_append(&writer->directory, &boundary, sizeof boundary);
	}
	return !writer->directory.failed;
}

struct imp_error *index_writer_new(int fd, const char *path, const struct build_id *id,
				   const struct dwarf_sources *sources, struct index_writer **ret)
{
	struct index_writer *writer = calloc(1, sizeof *writer);
	if (!writer)
		return &imp_error_no_memory;
	writer->fd = fd;
	writer->path = path;
	memcpy(writer->header.magic, INDEX_MAGIC, sizeof writer->header.magic);
	writer->header.version = INDEX_VERSION;
	writer->header.byte_order = INDEX_BYTE_ORDER;
	writer->header.id_size = id->size;
	memcpy(writer->header.id, id->bytes, id->size);
	writer->header.sources = *sources;
	*ret = writer;
	return NULL;
}

struct imp_error *index_writer_begin(struct index_writer *writer,
				     const struct boundaries *boundaries, size_t unit_count)
{
	if (boundaries->list.count > UINT32_MAX || unit_count >= UINT32_MAX)
		return error_new(IMP_ERR_UNSUPPORTED, "%s: too many units", writer->path);
	writer->unit_count = unit_count;
	writer->units = calloc(unit_count + 1, sizeof *writer->units);
	writer->header.unit_count = (uint32_t)unit_count;
	writer->header.boundary_count = (uint32_t)boundaries->list.count;
	if (!writer->units || !put_boundaries(writer, boundaries))
		return &imp_error_no_memory;
	writer->at = sizeof writer->header + directory_size(writer);
	if (lseek(writer->fd, (off_t)writer->at, SEEK_SET) < 0)
		return error_system(errno, "%s: cannot seek", writer->path);
	return NULL;
}

void index_writer_free(struct index_writer *writer)
{
	if (!writer)
		return;
	strings_fini(&writer->strings);
	array_fini(&writer->string_offsets);
	buffer_fini(&writer->directory);
	free(writer->units);
	free(writer);
}

static struct imp_error *put_string(struct index_writer *writer, const char *text,
				    struct buffer *offsets)
{
	size_t length = strlen(text);
	uint32_t number;
	struct imp_error *err = strings_intern(&writer->strings, text, length, &number);
	if (err)
		return err;
	if (number == writer->string_offsets.count) {
		uint32_t *added = array_add(&writer->string_offsets);
		if (!added)
			return &imp_error_no_memory;
		if (length >= UINT32_MAX - writer->strings_size)
			return error_new(IMP_ERR_UNSUPPORTED, "%s: more than 4 GiB of names",
					 writer->path);
		*added = writer->strings_size;
		writer->strings_size += (uint32_t)length + 1;
	}
	uint32_t offset = writer->string_offsets.items[number];
	buffer_append(offsets, &offset, sizeof offset);
	return NULL;
}

static struct imp_error *put_strings(struct index_writer *writer, const char **texts,
				     uint32_t count, struct buffer *bytes)
{
	struct imp_error *err = NULL;
	for (uint32_t i = 0; i < count && !err; i++)
		err = put_string(writer, texts[i], bytes);
	return err;
}

static struct imp_error *put_tables(struct index_writer *writer, const struct unit_tables *tables,
				    struct buffer *bytes, struct index_unit *unit)
{
	buffer_append(bytes, tables->owner_starts, 4 * (size_t)tables->owner_count);
	buffer_append(bytes, tables->owners, 4 * (size_t)tables->owner_count);
	buffer_append(bytes, tables->scopes, sizeof *tables->scopes * tables->scope_count);
	buffer_append(bytes, tables->row_starts, 4 * (size_t)tables->row_count);
	buffer_append(bytes, tables->rows, sizeof *tables->rows * tables->row_count);
	struct imp_error *err = put_strings(writer, tables->names, tables->name_count, bytes);
	if (!err)
		err = put_strings(writer, tables->files, tables->file_count, bytes);
	if (err)
		return err;
	static const uint8_t padding[8];
	buffer_append(bytes, padding, index_arrays_of(unit).size - bytes->size);
	if (bytes->failed)
		return &imp_error_no_memory;
	unit->checksum = hash_bytes(0, bytes->bytes, bytes->size);
	return file_write(writer->fd, writer->path, bytes->bytes, bytes->size);
}

struct imp_error *index_writer_add(struct index_writer *writer, const struct unit_tables *tables)
{
	struct index_unit *unit = &writer->units[writer->written++];
	*unit = (struct index_unit){
		.base = tables->base,
		.offset = writer->at,
		.owner_count = tables->owner_count,
		.scope_count = tables->scope_count,
		.row_count = tables->row_count,
		.name_count = tables->name_count,
		.file_count = tables->file_count,
	};
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = put_tables(writer, tables, &bytes, unit);
	writer->at += bytes.size;
	return err;
}

struct imp_error *index_writer_finish(struct index_writer *writer)
{
	_cleanup_buffer_ struct buffer strings = { 0 };
	for (size_t i = 0; i < writer->strings.all.count; i++) {
		const char *text = strings_at(&writer->strings, (uint32_t)i);
		buffer_append(&strings, text, strlen(text) + 1);
	}
	buffer_append(&writer->directory, writer->units,
		      sizeof *writer->units * writer->unit_count);
	if (strings.failed || writer->directory.failed)
		return &imp_error_no_memory;
	writer->header.strings_offset = writer->at;
	writer->header.strings_size = strings.size;
	writer->header.file_size = writer->at + strings.size;
	writer->header.checksum = index_checksum(&writer->header, writer->directory.bytes,
						 writer->directory.size, strings.bytes);
	struct imp_error *err = file_write(writer->fd, writer->path, strings.bytes, strings.size);
	if (!err && lseek(writer->fd, 0, SEEK_SET) < 0)
		err = error_system(errno, "%s: cannot seek", writer->path);
	if (!err)
		err = file_write(writer->fd, writer->path, &writer->header, sizeof writer->header);
	if (!err)
		err = file_write(writer->fd, writer->path, writer->directory.bytes,
				 writer->directory.size);
	return err;
}
