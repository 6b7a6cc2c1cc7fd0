// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Filling a table of symbols, for this folder: add items, then index once.
#ifndef ELF_SYMBOLS_BUILD_H
#define ELF_SYMBOLS_BUILD_H

#include <elf.h>

#include "base/array.h"
#include "elf/symbols.h"

struct symbol_item {
	uint64_t address, size;
	const char *name;
	// Which of the `ends` bounds a symbol without a size.
	uint32_t section;
	uint8_t type, binding;
	uint8_t source;
};

struct symbols {
	ARRAY_OF(struct symbol_item) items;
	// Where sections end; number 0 is "nowhere".
	ARRAY_OF(uint64_t) ends;
	// Where something begins that is no function, and a symbol without a size ends.
	ARRAY_OF(uint64_t) boundaries;
	// The address space cut into ranges: starts in order, each with the item that names it, or
	// NO_ITEM.
	ARRAY_OF(uint64_t) starts;
	ARRAY_OF(uint32_t) range_items;
	// Names that are in no file, and images opened for this table.
	ARRAY_OF(char *) names;
	ARRAY_OF(struct elf_image *) images;
};

enum { NO_ITEM = UINT32_MAX };

struct symbols *symbols_alloc(void);

// The number of a section that ends at END; 0 when memory ran out.
uint32_t symbols_add_end(struct symbols *symbols, uint64_t end);

// A copy of LENGTH bytes of TEXT that lives as long as SYMBOLS; NULL when memory ran out.
const char *symbols_keep_name(struct symbols *symbols, const char *text, size_t length);

// Sorts, drops doubles, cuts the ranges. After adding more, it is done again.
struct imp_error *symbols_index(struct symbols *symbols) MUST_CHECK;

// Adds the function symbols of FILE's tables of TYPE (SHT_SYMTAB, SHT_DYNSYM). CONTENT is the file
// that has the bytes of its sections, where FILE is a debug file.
struct imp_error *symbols_read(struct symbols *symbols, const struct elf_image *file,
			       const struct elf_image *content, uint32_t type,
			       enum symbol_source source) MUST_CHECK;

// Adds NAME@plt for the entries of IMAGE's procedure linkage tables. SYMBOLS is indexed: its items
// name the targets that have no symbol of their own.
struct imp_error *symbols_read_plt(struct symbols *symbols,
				   const struct elf_image *image) MUST_CHECK;

#endif
