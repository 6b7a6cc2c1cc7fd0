// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The maker of ELF files.
#include "make/elf.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct out {
	struct buffer *buffer;
	size_t start;
	bool is_32bit, is_big;
};

static void number(struct out *out, uint64_t value, unsigned size)
{
	uint8_t bytes[8];
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * (out->is_big ? size - 1 - i : i));
	buffer_append(out->buffer, bytes, size);
}

static void half(struct out *out, uint64_t value)
{
	number(out, value, 2);
}

static void word(struct out *out, uint64_t value)
{
	number(out, value, 4);
}

static void wide(struct out *out, uint64_t value)
{
	number(out, value, out->is_32bit ? 4 : 8);
}

static uint64_t position(const struct out *out)
{
	return out->buffer->size - out->start;
}

static void pad_to(struct out *out, uint64_t offset)
{
	while (position(out) < offset)
		number(out, 0, 1);
}

static void align_to(struct out *out, uint64_t alignment)
{
	while (alignment > 1 && position(out) % alignment)
		number(out, 0, 1);
}

static void write_segment(struct out *out, const struct make_segment *segment)
{
	word(out, segment->type);
	if (!out->is_32bit)
		word(out, segment->flags);
	wide(out, segment->offset);
	wide(out, segment->address);
	wide(out, segment->address);
	wide(out, segment->file_size);
	wide(out, segment->memory_size);
	if (out->is_32bit)
		word(out, segment->flags);
	wide(out, segment->alignment);
}

static void write_section(struct out *out, const struct make_section *section, uint32_t name)
{
	word(out, name);
	word(out, section->type);
	wide(out, section->flags);
	wide(out, section->address);
	wide(out, section->offset);
	wide(out, section->size);
	word(out, section->link);
	word(out, section->info);
	wide(out, section->alignment);
	wide(out, section->entry_size);
}

static void write_symbol(struct out *out, const struct make_symbol *symbol, uint32_t name)
{
	uint8_t kind = (uint8_t)(symbol->binding << 4 | symbol->type);
	word(out, name);
	if (out->is_32bit) {
		wide(out, symbol->value);
		wide(out, symbol->size);
	}
	number(out, kind, 1);
	number(out, 0, 1);
	half(out, symbol->section);
	if (!out->is_32bit) {
		wide(out, symbol->value);
		wide(out, symbol->size);
	}
}

// Writes the symbols that are (not) dynamic, and their names, as two further sections of ALL.
static void write_symbols(struct out *out, const struct make_elf *elf, bool is_dynamic,
			  struct make_section *all, uint32_t *count)
{
	_cleanup_buffer_ struct buffer names = { 0 };
	buffer_append(&names, "", 1);
	align_to(out, 8);
	uint64_t start = position(out);
	write_symbol(out, &(struct make_symbol){ 0 }, 0);
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const struct make_symbol *symbol = &elf->symbols[i];
		if (symbol->is_dynamic != is_dynamic)
			continue;
		write_symbol(out, symbol, (uint32_t)names.size);
		buffer_append(&names, symbol->name, strlen(symbol->name) + 1);
	}
	uint64_t end = position(out);
	if (end - start == (elf->is_32bit ? 16 : 24)) {
		out->buffer->size = out->start + start;
		return;
	}
	buffer_append(out->buffer, names.bytes, names.size);
	all[*count] = (struct make_section){ .name = is_dynamic ? ".dynsym" : ".symtab",
					     .type = is_dynamic ? SHT_DYNSYM : SHT_SYMTAB,
					     .flags = is_dynamic ? SHF_ALLOC : 0,
					     .offset = start,
					     .size = end - start,
					     .link = *count + 2,
					     .info = 1,
					     .alignment = 8,
					     .entry_size = elf->is_32bit ? 16 : 24 };
	all[*count + 1] = (struct make_section){ .name = is_dynamic ? ".dynstr" : ".strtab",
						 .type = SHT_STRTAB,
						 .flags = is_dynamic ? SHF_ALLOC : 0,
						 .offset = end,
						 .size = names.size,
						 .alignment = 1 };
	*count += 2;
}

static uint64_t write_sections(struct out *out, struct make_section *all, uint32_t count)
{
	_cleanup_buffer_ struct buffer names = { 0 };
	uint32_t name_at[MAKE_ELF_MOST + 8];
	buffer_append(&names, "", 1);
	all[count++] = (struct make_section){ .name = ".shstrtab", .type = SHT_STRTAB };
	for (uint32_t i = 0; i < count; i++) {
		name_at[i] = (uint32_t)names.size;
		buffer_append(&names, all[i].name, strlen(all[i].name) + 1);
	}
	all[count - 1].offset = position(out);
	all[count - 1].size = names.size;
	buffer_append(out->buffer, names.bytes, names.size);
	align_to(out, 8);
	uint64_t start = position(out);
	write_section(out, &(struct make_section){ 0 }, 0);
	for (uint32_t i = 0; i < count; i++)
		write_section(out, &all[i], name_at[i]);
	return start;
}

static void write_header(struct out *out, const struct make_elf *elf, uint64_t section_headers,
			 uint32_t section_count)
{
	const uint8_t ident[EI_NIDENT] = { 0x7f,
					   'E',
					   'L',
					   'F',
					   elf->is_32bit ? ELFCLASS32 : ELFCLASS64,
					   elf->is_big_endian ? ELFDATA2MSB : ELFDATA2LSB,
					   EV_CURRENT };
	buffer_append(out->buffer, ident, sizeof ident);
	half(out, elf->type);
	half(out, elf->machine);
	word(out, EV_CURRENT);
	wide(out, 0);
	wide(out, elf->segment_count ? (elf->is_32bit ? 52 : 64) : 0);
	wide(out, section_headers);
	word(out, 0);
	half(out, elf->is_32bit ? 52 : 64);
	half(out, elf->is_32bit ? 32 : 56);
	half(out, elf->segment_count);
	half(out, elf->is_32bit ? 40 : 64);
	half(out, section_count);
	half(out, section_count ? section_count - 1 : 0);
}

void make_elf(const struct make_elf *elf, struct buffer *ret)
{
	struct out out = { ret, ret->size, elf->is_32bit, elf->is_big_endian };
	struct make_section all[MAKE_ELF_MOST + 8];
	uint32_t count = 0;
	write_header(&out, elf, 0, 0);
	size_t header_size = (size_t)position(&out);
	for (size_t i = 0; i < elf->segment_count; i++)
		write_segment(&out, &elf->segments[i]);
	for (size_t i = 0; i < elf->section_count; i++) {
		struct make_section section = elf->sections[i];
		align_to(&out, section.alignment);
		pad_to(&out, section.offset);
		if (!section.offset)
			section.offset = position(&out);
		if (section.type != SHT_NOBITS && section.bytes)
			buffer_append(ret, section.bytes, (size_t)section.size);
		else if (section.type != SHT_NOBITS)
			pad_to(&out, position(&out) + section.size);
		all[count++] = section;
	}
	if (elf->has_no_sections)
		return;
	write_symbols(&out, elf, false, all, &count);
	write_symbols(&out, elf, true, all, &count);
	uint64_t start = write_sections(&out, all, count);
	_cleanup_buffer_ struct buffer header = { 0 };
	struct out again = { &header, 0, elf->is_32bit, elf->is_big_endian };
	write_header(&again, elf, start, count + 2);
	memcpy(ret->bytes + out.start, header.bytes, header_size);
}

void make_note(struct buffer *ret, bool is_big_endian, const char *name, uint32_t type,
	       const void *bytes, uint32_t size, uint32_t align)
{
	struct out out = { ret, ret->size, false, is_big_endian };
	word(&out, strlen(name) + 1);
	word(&out, size);
	word(&out, type);
	buffer_append(ret, name, strlen(name) + 1);
	align_to(&out, align);
	buffer_append(ret, bytes, size);
	align_to(&out, align);
}

void make_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror(path);
		abort();
	}
}

static void make_functions(const void *id, uint32_t size, const char *prefix, bool is_stripped,
			   struct buffer *ret)
{
	_cleanup_buffer_ struct buffer note = { 0 };
	char first[64], second[64];
	static const uint8_t code[32] = { [0 ... 31] = 0xc3 };
	snprintf(first, sizeof first, "%sfirst", prefix);
	snprintf(second, sizeof second, "%ssecond", prefix);
	if (size)
		make_note(&note, false, "GNU", NT_GNU_BUILD_ID, id, size, 4);
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.section_count = size ? 2 : 1,
		.sections = { { .name = ".text",
				.type = SHT_PROGBITS,
				.bytes = code,
				.size = sizeof code,
				.offset = 0x1000,
				.address = 0x2000,
				.flags = SHF_ALLOC | SHF_EXECINSTR,
				.alignment = 16 },
			      { .name = ".note.gnu.build-id",
				.type = SHT_NOTE,
				.bytes = note.bytes,
				.size = note.size,
				.offset = 0x1100,
				.address = 0x2100,
				.flags = SHF_ALLOC,
				.alignment = 4 } },
		.segment_count = size ? 2 : 1,
		.segments = { { .type = PT_LOAD,
				.flags = PF_R | PF_X,
				.offset = 0x1000,
				.address = 0x2000,
				.file_size = 0x200,
				.memory_size = 0x200,
				.alignment = 0x1000 },
			      { .type = PT_NOTE,
				.flags = PF_R,
				.offset = 0x1100,
				.address = 0x2100,
				.file_size = note.size,
				.memory_size = note.size,
				.alignment = 4 } },
		.symbol_count = 2,
		.symbols = { { first, 0x2000, 16, 1, STT_FUNC, STB_GLOBAL, is_stripped },
			     { second, 0x2010, 16, 1, STT_FUNC, STB_GLOBAL, is_stripped } },
	};
	make_elf(&elf, ret);
}

void make_library(const void *id, uint32_t size, const char *prefix, struct buffer *ret)
{
	make_functions(id, size, prefix, false, ret);
}

void make_stripped_library(const void *id, uint32_t size, const char *prefix, struct buffer *ret)
{
	make_functions(id, size, prefix, true, ret);
}

char *make_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *path = NULL;
	if (asprintf(&path, "%s/imprint-test-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path)) {
		perror("mkdtemp");
		abort();
	}
	return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

void make_directory_free(char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory);
}
