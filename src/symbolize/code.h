// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What one image's offsets mean, and what is known there: by the kind of image, from the build's
// symbols and DWARF, a kernel's list of symbols, or the map of a run-time compiler.
#ifndef SYMBOLIZE_CODE_H
#define SYMBOLIZE_CODE_H

#include "model/frame.h"
#include "symbolize/object.h"

struct code;

struct code_options {
	// All lent until code_free().
	struct finder *finder;
	struct objects *objects;
	const struct log *log;
	bool wants_lines;
	// Where perf-PID.map files stand; NULL: none is read.
	const char *map_dir;
};

// IMAGE is copied. Opens what the image is named by.
struct imp_error *code_new(const struct image *image, const struct code_options *options,
			   struct code **ret) MUST_CHECK;
void code_free(struct code *code);

// What the finder said. Lent by the finder.
const struct finding *code_finding(const struct code *code);

// One address of the code. Strings are lent by the code.
struct code_place {
	// KNOWN when there is a symbol or a frame.
	enum unknown_reason unknown;
	elf_addr address;
	bool has_address;
	bool has_symbol;
	// Where the symbol begins, on the scale of OFFSET of code_look_up().
	const char *symbol_name;
	uint64_t symbol_offset;
	uint32_t frame_count;
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
};

// Fills in PLACE for OFFSET (model/image.h says what it counts). Safe from many threads.
struct imp_error *code_look_up(const struct code *code, file_off offset,
			       struct code_place *place) MUST_CHECK;

// The same for an ADDRESS that symbol tables and DWARF speak, of images that files are found for.
struct imp_error *code_look_up_address(const struct code *code, elf_addr address,
				       struct code_place *place) MUST_CHECK;

// Reads what code_look_up_address() will need of DWARF: see dwarf_prepare().
struct imp_error *code_prepare(const struct code *code, const elf_addr *addresses, size_t count,
			       unsigned workers) MUST_CHECK;

// The symbols that ADDRESS's name was chosen from: *first is the index of the preferred one in the
// result, *count their number. NULL without symbols.
const struct symbols *code_aliases(const struct code *code, elf_addr address, size_t *first,
				   size_t *count);

#endif
