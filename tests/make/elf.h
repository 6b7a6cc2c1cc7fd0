// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Makes ELF files in code, so that a test shows its input: any class, byte order, notes, segments,
// sections and symbols, sound or not.
#ifndef MAKE_ELF_H
#define MAKE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { MAKE_ELF_MOST = 32, MAKE_ELF_SYMBOLS_MOST = 64 };

struct make_section {
	const char *name;
	const void *bytes;
	// Where it goes in the file; 0: after the one before, aligned.
	uint64_t offset;
	uint64_t size, address, flags, alignment, entry_size;
	uint32_t type, link, info;
};

struct make_segment {
	uint64_t offset, address, file_size, memory_size, alignment;
	uint32_t type, flags;
};

struct make_symbol {
	const char *name;
	uint64_t value, size;
	// An index into `sections` + 1, or SHN_ABS and the like.
	uint16_t section;
	uint8_t type, binding;
	bool is_dynamic;
};

// Zero-initialise, set the type and machine, fill the tables.
struct make_elf {
	uint16_t type, machine;
	bool is_32bit, is_big_endian;
	// Neither section headers nor symbols.
	bool has_no_sections;
	size_t section_count, segment_count, symbol_count;
	struct make_section sections[MAKE_ELF_MOST];
	struct make_segment segments[MAKE_ELF_MOST];
	struct make_symbol symbols[MAKE_ELF_SYMBOLS_MOST];
};

// Appends the file. Sections are numbered from 1 in their order; .symtab, .strtab, .dynsym,
// .dynstr (for the symbols there are) and .shstrtab follow.
void make_elf(const struct make_elf *elf, struct buffer *ret);

// Appends a note, padded to ALIGN (4 or 8).
void make_note(struct buffer *ret, bool is_big_endian, const char *name, uint32_t type,
	       const void *bytes, uint32_t size, uint32_t align);

// Writes BYTES to a new file at PATH; the test stops when that fails.
void make_file(const char *path, const void *bytes, size_t size);

// A shared library for x86-64 with the build ID of SIZE bytes ID (0: none), a segment of code at
// offset 0x1000 and address 0x2000, and in it two functions: "first" at 0x2000 and "second" at
// 0x2010, 16 bytes each. Every name gets PREFIX in front.
void make_library(const void *id, uint32_t size, const char *prefix, struct buffer *ret);

// The same, with its symbols in .dynsym only, as strip leaves it.
void make_stripped_library(const void *id, uint32_t size, const char *prefix, struct buffer *ret);

// A new directory below $TMPDIR for a test, removed by make_directory_free().
char *make_directory(void);
void make_directory_free(char *directory);

#endif
