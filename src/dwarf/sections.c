// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding the debug sections of an ELF file and bringing them into the form they are read in.
#include "dwarf/sections.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
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
	struct debug_sections *sections;
	struct raw_section raw[DEBUG_SECTIONS];
	const char *name;
	const uint8_t *bytes;
	size_t size;
	Elf *elf;
};

static bool read_compression_header(struct opening *opening, struct raw_section *raw)
{
	struct cursor header = cursor_over(raw->bytes, raw->size);
	header.swap = opening->sections->swap;
	uint32_t type = cursor_u32(&header);
	if (opening->sections->address_size == 8) {
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

static struct imp_error *add_section(struct opening *opening, const char *name, size_t index,
				     const GElf_Shdr *header)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		bool is_old = strcmp(name, section_defs[i].compressed_name) == 0;
		if (!is_old && strcmp(name, section_defs[i].name) != 0)
			continue;
		struct raw_section *raw = &opening->raw[i];
		// Of several (as in object files with COMDAT groups) the first is the unit's own.
		if (raw->bytes || header->sh_type == SHT_NOBITS || header->sh_size == 0)
			return NULL;
		if (header->sh_offset > opening->size ||
		    header->sh_size > opening->size - header->sh_offset)
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s ends beyond the file",
					 opening->name, name);
		*raw = (struct raw_section){ .bytes = opening->bytes + header->sh_offset,
					     .size = header->sh_size,
					     .index = index };
		bool is_sound = !(header->sh_flags & SHF_COMPRESSED) ||
				read_compression_header(opening, raw);
		if (is_old && !read_old_compression_header(raw))
			is_sound = false;
		if (!is_sound)
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s: unknown compression",
					 opening->name, name);
		return NULL;
	}
	return NULL;
}

static struct imp_error *find_sections(struct opening *opening)
{
	size_t names = 0;
	if (elf_getshdrstrndx(opening->elf, &names) < 0)
		return NULL;
	for (Elf_Scn *scn = elf_nextscn(opening->elf, NULL); scn;
	     scn = elf_nextscn(opening->elf, scn)) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header))
			continue;
		const char *name = elf_strptr(opening->elf, names, header.sh_name);
		if (!name)
			continue;
		struct imp_error *err = add_section(opening, name, elf_ndxscn(scn), &header);
		if (err)
			return err;
	}
	return NULL;
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
		*section = (struct section){ .bytes = raw->bytes,
					     .size = raw->size,
					     .is_mapped = opening->sections->mapping };
	} else {
		// No packing in use makes more than this of one byte.
		if (raw->unpacked_size > most_unpacked || raw->unpacked_size / 20000 > raw->size)
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s says it unpacks to %llu",
					 opening->name, section_defs[which].name,
					 (unsigned long long)raw->unpacked_size);
		uint8_t *bytes = malloc(raw->unpacked_size + 1);
		if (!bytes)
			return &imp_error_no_memory;
		if (!unpack(raw, bytes)) {
			free(bytes);
			return error_new(IMP_ERR_BAD_DATA, "%s: section %s does not unpack",
					 opening->name, section_defs[which].name);
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

static struct imp_error *relocate_sections(struct opening *opening,
					   const struct section_addresses *addresses)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		struct section *section = &opening->sections->all[i];
		if (!section->bytes || section_defs[i].is_strings)
			continue;
		struct imp_error *err = debug_section_relocate(opening->elf, opening->raw[i].index,
							       addresses, section);
		if (err)
			return error_context(err, "%s: section %s", opening->name,
					     section_defs[i].name);
	}
	return NULL;
}

static struct imp_error *read_sections(struct opening *opening,
				       const struct section_addresses *addresses)
{
	GElf_Ehdr header;
	if (elf_kind(opening->elf) != ELF_K_ELF || !gelf_getehdr(opening->elf, &header))
		return error_new(IMP_ERR_BAD_DATA, "%s: not an ELF file", opening->name);
	struct debug_sections *sections = opening->sections;
	bool is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	sections->swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	sections->is_relocatable = header.e_type == ET_REL;
	sections->machine = header.e_machine;
	sections->address_size = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	struct imp_error *err = find_sections(opening);
	if (!err)
		err = take_sections(opening);
	if (!err && sections->is_relocatable)
		err = relocate_sections(opening, addresses);
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		if (section_defs[i].is_strings)
			cut_strings(&sections->all[i]);
	return err;
}

static struct imp_error *open_over(const void *bytes, size_t size, const char *name,
				   const struct section_addresses *addresses,
				   struct debug_sections *sections)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_new(IMP_ERR_UNSUPPORTED, "libelf: %s", elf_errmsg(-1));
	struct opening opening = {
		.sections = sections, .name = name, .bytes = bytes, .size = size
	};
	opening.elf = elf_memory((char *)(uintptr_t)bytes, size);
	if (!opening.elf)
		return error_new(IMP_ERR_BAD_DATA, "%s: not an ELF file", name);
	struct imp_error *err = read_sections(&opening, addresses);
	elf_end(opening.elf);
	return err;
}

struct imp_error *debug_sections_over(const void *bytes, size_t size, const char *name,
				      const struct section_addresses *addresses,
				      struct debug_sections *ret)
{
	struct debug_sections sections = { 0 };
	struct imp_error *err = open_over(bytes, size, name, addresses, &sections);
	if (err)
		debug_sections_close(&sections);
	else
		*ret = sections;
	return err;
}

struct imp_error *debug_sections_open(const char *path, const struct section_addresses *addresses,
				      struct debug_sections *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(errno, "%s", path);
	if (!S_ISREG(status.st_mode) || status.st_size <= 0)
		return error_new(IMP_ERR_BAD_DATA, "%s: not an ELF file", path);
	size_t size = (size_t)status.st_size;
	void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapping == MAP_FAILED)
		return error_system(errno, "%s: cannot map", path);
	struct debug_sections sections = { .mapping = mapping, .mapping_size = size };
	struct imp_error *err = open_over(mapping, size, path, addresses, &sections);
	if (err)
		debug_sections_close(&sections);
	else
		*ret = sections;
	return err;
}

void debug_sections_close(struct debug_sections *sections)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		free(sections->all[i].owned);
	if (sections->mapping)
		munmap(sections->mapping, sections->mapping_size);
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
	if (!section->is_mapped || offset > section->size || size > section->size - offset)
		return;
	const uintptr_t page = 4096;
	uintptr_t from = ((uintptr_t)section->bytes + offset) & ~(page - 1);
	uintptr_t to = ((uintptr_t)section->bytes + offset + size) & ~(page - 1);
	// Fails where pages are bigger, which costs memory and nothing else.
	if (to > from)
		(void)madvise((void *)from, to - from, MADV_DONTNEED);
}
