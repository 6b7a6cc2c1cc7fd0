// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The functions of an image by address: built once from every symbol table there is, asked in
// O(log n).
//
// An address has the name of the symbol that covers it; of several, the one that begins last; of
// those that begin together, one chosen by the rules of docs/names.md. The others stay available as
// aliases.
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_image.h"

struct symbols;

enum symbol_source {
	SYMBOL_SYMTAB,
	// The small table inside .gnu_debugdata.
	SYMBOL_DEBUGDATA,
	SYMBOL_DYNSYM,
	// No symbol of the file: NAME@plt, from the relocation of a procedure linkage table's
	// entry.
	SYMBOL_PLT,
	SYMBOL_KALLSYMS,
	SYMBOL_SOURCES
};

// ".symtab", ".gnu_debugdata", ".dynsym", "plt", "kallsyms".
const char *symbol_source_name(enum symbol_source source);

struct symbol {
	elf_addr address;
	// As the table says: 0 for a label of assembly, which lasts until the next symbol.
	uint64_t size;
	// As the table says, without the "@@VERSION" of default versions. Lent by the symbols.
	const char *name;
	// STT_… and STB_… of elf.h.
	uint8_t type, binding;
	enum symbol_source source;
};

// The function symbols of IMAGE and of DEBUG, its separate debug file (each may be NULL, and they
// may be the same). Both are lent until symbols_free(). A file without any gives an empty table.
struct imp_error *symbols_new(const struct elf_image *image, const struct elf_image *debug,
			      struct symbols **ret) MUST_CHECK;
void symbols_free(struct symbols *symbols);

// How many symbols there are, aliases among them.
size_t symbols_count(const struct symbols *symbols);
// One of them, in the order of addresses; aliases in the order of preference.
struct symbol symbols_item(const struct symbols *symbols, size_t index);

// The symbol that covers ADDRESS. False when none does.
bool symbols_at(const struct symbols *symbols, elf_addr address, struct symbol *ret);

// The symbols that begin at ADDRESS, the preferred one first: *first is the index of the first, the
// result how many there are.
size_t symbols_aliases(const struct symbols *symbols, elf_addr address, size_t *first);

// The first symbol of that NAME; a walk over all. False when there is none.
bool symbols_named(const struct symbols *symbols, const char *name, struct symbol *ret);

// The value of the first symbol called NAME in IMAGE's .symtab, of whatever type. False when there
// is none.
bool elf_symbol_address(const struct elf_image *image, const char *name, elf_addr *ret);

DEFINE_CLEANUP(struct symbols *, symbols, symbols_free)
#define _cleanup_symbols_ __attribute__((cleanup(cleanup_symbols)))

#endif
