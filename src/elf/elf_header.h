// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The ELF headers as numbers: both classes and both byte orders become one form here.
#ifndef ELF_ELF_HEADER_H
#define ELF_ELF_HEADER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct elf_header {
	// Where a program or the dynamic linker begins; 0 for none.
	uint64_t entry;
	uint64_t program_headers, section_headers;
	uint32_t program_header_count, section_header_count;
	// The section that holds sections' names.
	uint32_t name_section;
	uint16_t type, machine;
	uint16_t program_header_size, section_header_size;
	bool is_64bit, swap;
};

struct elf_program_header {
	uint64_t offset, address, file_size, memory_size, alignment;
	uint32_t type, flags;
};

struct elf_section_header {
	uint64_t flags, address, offset, size, alignment, entry_size;
	uint32_t name, type, link, info;
};

// A table entry larger than this is not believed.
enum { ELF_HEADER_MOST = 1024 };

// Reads the file header from the first SIZE bytes of a file. False when they begin no ELF file, or
// one of a class, byte order or header size that does not exist. Counts that did not fit into the
// header (PN_XNUM, 0, SHN_XINDEX) stay as they are; elf_header_extend() mends them.
bool elf_header_read(const void *bytes, size_t size, struct elf_header *ret);

// Takes the counts that did not fit into the header from FIRST, the section header number 0.
void elf_header_extend(struct elf_header *header, const struct elf_section_header *first);

// True when elf_header_extend() is needed.
bool elf_header_is_extended(const struct elf_header *header);

// Reads one entry of the tables from its bytes (at least header->..._size of them).
struct elf_program_header elf_program_header_read(const struct elf_header *header,
						  const uint8_t *bytes);
struct elf_section_header elf_section_header_read(const struct elf_header *header,
						  const uint8_t *bytes);

// An address or offset of the file's class.
static inline uint64_t elf_word(const struct elf_header *header, struct cursor *cursor)
{
	return header->is_64bit ? cursor_u64(cursor) : cursor_u32(cursor);
}

#endif
