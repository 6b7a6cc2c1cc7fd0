// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding the debug sections of an ELF file and bringing them into the form they are read in.
#include "dwarf/sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/parallel.h"
#include "dwarf/relocate.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

// The most that one section may unpack to.
static const uint64_t most_unpacked = UINT64_C(16) << 30;

static const struct section_def {
	const char *name;
	// As GNU tools wrote them before SHF_COMPRESSED existed.
	const char *compressed_name;
	bool is_strings;
} section_defs[DEBUG_SECTIONS] = {
	[DEBUG_INFO] = { ".debug_info", ".zdebug_info", false },
	[DEBUG_ABBREV] = { ".debug_abbrev", ".zdebug_abbrev", false },
	[DEBUG_LINE] = { ".debug_line", ".zdebug_line", false },
	[DEBUG_STR] = { ".debug_str", ".zdebug_str", true },
	[DEBUG_LINE_STR] = { ".debug_line_str", ".zdebug_line_str", true },
	[DEBUG_STR_OFFSETS] = { ".debug_str_offsets", ".zdebug_str_offsets", false },
	[DEBUG_ADDR] = { ".debug_addr", ".zdebug_addr", false },
	[DEBUG_RANGES] = { ".debug_ranges", ".zdebug_ranges", false },
	[DEBUG_RNGLISTS] = { ".debug_rnglists", ".zdebug_rnglists", false },
	[DEBUG_ARANGES] = { ".debug_aranges", ".zdebug_aranges", false },
};

enum packing { NOT_PACKED, PACKED_ZLIB, PACKED_ZSTD };

// A section as it stands in the file.
struct raw_section {
	const uint8_t *bytes;
	size_t size;
	size_t index;
	enum packing packing;
	uint64_t unpacked_size;
};

struct opening {
	const struct elf_image *image;
	struct debug_sections *sections;
	bool is_split;
	struct raw_section raw[DEBUG_SECTIONS];
};

static bool read_compression_header(struct opening *opening, struct raw_section *raw)
{
	struct cursor header = cursor_over(raw->bytes, raw->size);
	header.swap = opening->sections->swap;
	uint32_t type = cursor_u32(&header);
	if (elf_image_is_64bit(opening->image)) {
		cursor_u32(&header);
		raw->unpacked_size = cursor_u64(&header);
		cursor_u64(&header);
	} else {
		raw->unpacked_size = cursor_u32(&header);
		cursor_u32(&header);
	}
	if (header.failed)
		return false;
	raw->bytes += header.at;
	raw->size -= header.at;
	raw->packing = type == ELFCOMPRESS_ZLIB	  ? PACKED_ZLIB
		       : type == ELFCOMPRESS_ZSTD ? PACKED_ZSTD
						  : NOT_PACKED;
	return raw->packing != NOT_PACKED;
}

// "ZLIB" and the size as eight bytes, big-endian, in files of either order.
static bool read_old_compression_header(struct raw_section *raw)
{
	struct cursor header = cursor_over(raw->bytes, raw->size);
	header.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const uint8_t *magic = cursor_bytes(&header, 4);
	raw->unpacked_size = cursor_u64(&header);
	if (header.failed || memcmp(magic, "ZLIB", 4) != 0)
		return false;
	raw->bytes += header.at;
	raw->size -= header.at;
	raw->packing = PACKED_ZLIB;
	return true;
}

static struct imp_error *add_section(struct opening *opening, size_t which,
				     const struct elf_section *section, size_t index, bool is_old)
{
	struct raw_section *raw = &opening->raw[which];
	struct cursor bytes = elf_image_section_bytes(opening->image, section);
	// Of several (as in object files with COMDAT groups) the first is the unit's own.
	if (raw->bytes || bytes.size == 0)
		return NULL;
	*raw = (struct raw_section){ .bytes = bytes.start, .size = bytes.size, .index = index };
	bool is_sound = !(section->flags & SHF_COMPRESSED) || read_compression_header(opening, raw);
	if (is_old && !read_old_compression_header(raw))
		is_sound = false;
	if (!is_sound)
		return error_new(IMP_ERR_UNSUPPORTED, "%s: section %s: unknown compression",
				 elf_image_path(opening->image), section->name);
	return NULL;
}

// SECTION is called NAME, with ".dwo" behind it when the unit is split.
static bool is_called(const struct elf_section *section, const char *name, bool is_split)
{
	size_t length = strlen(name);
	return strncmp(section->name, name, length) == 0 &&
	       strcmp(section->name + length, is_split ? ".dwo" : "") == 0;
}

static struct imp_error *find_sections(struct opening *opening)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < elf_image_section_count(opening->image) && !err; i++) {
		const struct elf_section *section = elf_image_section(opening->image, i);
		for (size_t which = 0; which < DEBUG_SECTIONS && !err; which++) {
			const struct section_def *def = &section_defs[which];
			bool is_split = opening->is_split;
			bool is_old = is_called(section, def->compressed_name, is_split);
			if (is_old || is_called(section, def->name, is_split))
				err = add_section(opening, which, section, i, is_old);
		}
	}
	return err;
}

static bool unpack(const struct raw_section *raw, uint8_t *ret)
{
	if (raw->packing == PACKED_ZSTD) {
		size_t got = ZSTD_decompress(ret, raw->unpacked_size, raw->bytes, raw->size);
		return !ZSTD_isError(got) && got == raw->unpacked_size;
	}
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)raw->bytes };
	if (inflateInit(&stream) != Z_OK)
		return false;
	size_t in_left = raw->size, out_left = raw->unpacked_size;
	stream.next_out = ret;
	int status = Z_OK;
	while (status == Z_OK && (out_left || stream.avail_out == 0)) {
		// zlib counts in 32 bits.
		uInt in = in_left > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)in_left;
		uInt out = out_left > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)out_left;
		stream.avail_in = in;
		stream.avail_out = out;
		status = inflate(&stream, Z_NO_FLUSH);
		in_left -= in - stream.avail_in;
		out_left -= out - stream.avail_out;
		if (in == stream.avail_in && out == stream.avail_out)
			break;
	}
	inflateEnd(&stream);
	return out_left == 0 && (status == Z_STREAM_END || status == Z_OK);
}

// A string section whose last string has no end is cut after the last that has one.
static void cut_strings(struct section *section)
{
	while (section->size && section->bytes[section->size - 1])
		section->size--;
}

static struct imp_error *take_section(struct opening *opening, size_t which)
{
	const struct raw_section *raw = &opening->raw[which];
	struct section *section = &opening->sections->all[which];
	if (!raw->bytes)
		return NULL;
	if (raw->packing == NOT_PACKED) {
		*section = (struct section){ .bytes = raw->bytes, .size = raw->size };
	} else {
		// No packing in use makes more than this of one byte.
		if (raw->unpacked_size > most_unpacked || raw->unpacked_size / 20000 > raw->size)
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s says it unpacks to %llu",
					 elf_image_path(opening->image), section_defs[which].name,
					 (unsigned long long)raw->unpacked_size);
		uint8_t *bytes = malloc(raw->unpacked_size + 1);
		if (!bytes)
			return &imp_error_no_memory;
		if (!unpack(raw, bytes)) {
			free(bytes);
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s does not unpack",
					 elf_image_path(opening->image), section_defs[which].name);
		}
		*section = (struct section){ .bytes = bytes,
					     .size = raw->unpacked_size,
					     .owned = bytes };
	}
	return NULL;
}

static struct imp_error *take_piece(void *arg, unsigned worker, size_t piece)
{
	(void)worker;
	return take_section(arg, piece);
}

static struct imp_error *take_sections(struct opening *opening)
{
	unsigned packed = 0;
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		packed += opening->raw[i].packing != NOT_PACKED;
	unsigned workers = packed > 1 ? parallel_workers(0) : 1;
	return parallel_run(workers, DEBUG_SECTIONS, take_piece, opening);
}

static struct imp_error *relocate_sections(struct opening *opening)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		struct section *section = &opening->sections->all[i];
		if (!section->bytes || section_defs[i].is_strings)
			continue;
		struct imp_error *err =
			debug_section_relocate(opening->image, opening->raw[i].index, section);
		if (err)
			return error_context(err, "%s: section %s", elf_image_path(opening->image),
					     section_defs[i].name);
	}
	return NULL;
}

static struct imp_error *open_sections(const struct elf_image *image, bool is_split,
				       struct debug_sections *ret)
{
	struct debug_sections sections = {
		.image = image,
		.swap = elf_image_is_swapped(image),
		.is_relocatable = elf_image_type(image) == ELF_RELOCATABLE,
	};
	struct opening opening = { .image = image, .sections = &sections, .is_split = is_split };
	struct imp_error *err = find_sections(&opening);
	if (!err)
		err = take_sections(&opening);
	if (!err && sections.is_relocatable)
		err = relocate_sections(&opening);
	if (err) {
		debug_sections_close(&sections);
		return err;
	}
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		if (section_defs[i].is_strings)
			cut_strings(&sections.all[i]);
	*ret = sections;
	return NULL;
}

struct imp_error *debug_sections_open(const struct elf_image *image, struct debug_sections *ret)
{
	return open_sections(image, false, ret);
}

struct imp_error *debug_sections_open_split(const struct elf_image *image,
					    struct debug_sections *ret)
{
	return open_sections(image, true, ret);
}

void debug_sections_close(struct debug_sections *sections)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		free(sections->all[i].owned);
	*sections = (struct debug_sections){ 0 };
}

struct cursor debug_section_from(const struct debug_sections *sections, enum debug_section which,
				 uint64_t offset)
{
	const struct section *section = &sections->all[which];
	struct cursor cursor = cursor_over(section->bytes, section->size);
	cursor.swap = sections->swap;
	if (offset > section->size)
		cursor.failed = true;
	else
		cursor.at = (size_t)offset;
	return cursor;
}

const char *debug_section_string(const struct debug_sections *sections, enum debug_section which,
				 uint64_t offset)
{
	const struct section *section = &sections->all[which];
	return offset < section->size ? (const char *)section->bytes + offset : NULL;
}

void debug_section_release(const struct debug_sections *sections, enum debug_section which,
			   uint64_t offset, uint64_t size)
{
	const struct section *section = &sections->all[which];
	if (!section->owned && offset <= section->size && size <= section->size - offset)
		elf_image_release(sections->image, section->bytes + offset, size);
}
