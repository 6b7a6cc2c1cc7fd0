// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading the ELF headers (gABI chapter 4 and 5).
#include "elf/elf_header.h"

bool elf_header_read(const void *bytes, size_t size, struct elf_header *ret)
{
	const uint8_t *ident = bytes;
	if (size < sizeof(Elf32_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return false;
	bool is_64bit = ident[EI_CLASS] == ELFCLASS64;
	bool is_big = ident[EI_DATA] == ELFDATA2MSB;
	if ((!is_64bit && ident[EI_CLASS] != ELFCLASS32) ||
	    (!is_big && ident[EI_DATA] != ELFDATA2LSB))
		return false;
	struct elf_header header = { .is_64bit = is_64bit };
	header.swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct cursor cursor = cursor_over(bytes, size);
	cursor.swap = header.swap;
	cursor_skip(&cursor, EI_NIDENT);
	header.type = cursor_u16(&cursor);
	header.machine = cursor_u16(&cursor);
	cursor_u32(&cursor);
	header.entry = elf_word(&header, &cursor);
	header.program_headers = elf_word(&header, &cursor);
	header.section_headers = elf_word(&header, &cursor);
	cursor_u32(&cursor);
	cursor_u16(&cursor);
	header.program_header_size = cursor_u16(&cursor);
	header.program_header_count = cursor_u16(&cursor);
	header.section_header_size = cursor_u16(&cursor);
	header.section_header_count = cursor_u16(&cursor);
	header.name_section = cursor_u16(&cursor);
	if (cursor.failed)
		return false;
	size_t least_program = is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t least_section = is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (!header.program_headers || header.program_header_size < least_program ||
	    header.program_header_size > ELF_HEADER_MOST)
		header.program_header_count = 0;
	if (!header.section_headers || header.section_header_size < least_section ||
	    header.section_header_size > ELF_HEADER_MOST) {
		header.section_headers = 0;
		header.section_header_count = 0;
	}
	*ret = header;
	return true;
}

bool elf_header_is_extended(const struct elf_header *header)
{
	return header->section_headers &&
	       (header->program_header_count == PN_XNUM || header->section_header_count == 0 ||
		header->name_section == SHN_XINDEX);
}

void elf_header_extend(struct elf_header *header, const struct elf_section_header *first)
{
	if (header->program_header_count == PN_XNUM)
		header->program_header_count = first->info;
	if (header->section_header_count == 0)
		header->section_header_count = first->size <= UINT32_MAX ? (uint32_t)first->size
									 : 0;
	if (header->name_section == SHN_XINDEX)
		header->name_section = first->link;
}

struct elf_program_header elf_program_header_read(const struct elf_header *header,
						  const uint8_t *bytes)
{
	struct elf_program_header ret = { 0 };
	struct cursor cursor = cursor_over(bytes, header->program_header_size);
	cursor.swap = header->swap;
	ret.type = cursor_u32(&cursor);
	if (header->is_64bit)
		ret.flags = cursor_u32(&cursor);
	ret.offset = elf_word(header, &cursor);
	ret.address = elf_word(header, &cursor);
	elf_word(header, &cursor);
	ret.file_size = elf_word(header, &cursor);
	ret.memory_size = elf_word(header, &cursor);
	if (!header->is_64bit)
		ret.flags = cursor_u32(&cursor);
	ret.alignment = elf_word(header, &cursor);
	return ret;
}

struct elf_section_header elf_section_header_read(const struct elf_header *header,
						  const uint8_t *bytes)
{
	struct elf_section_header ret = { 0 };
	struct cursor cursor = cursor_over(bytes, header->section_header_size);
	cursor.swap = header->swap;
	ret.name = cursor_u32(&cursor);
	ret.type = cursor_u32(&cursor);
	ret.flags = elf_word(header, &cursor);
	ret.address = elf_word(header, &cursor);
	ret.offset = elf_word(header, &cursor);
	ret.size = elf_word(header, &cursor);
	ret.link = cursor_u32(&cursor);
	ret.info = cursor_u32(&cursor);
	ret.alignment = elf_word(header, &cursor);
	ret.entry_size = elf_word(header, &cursor);
	return ret;
}
