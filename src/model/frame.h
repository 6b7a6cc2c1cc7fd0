// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One frame of a symbolized place: a function, and where it stands in its source.
#ifndef MODEL_FRAME_H
#define MODEL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/address.h"
#include "model/reason.h"

// Strings are lent by the symbolizer that made the frame, until it is freed.
struct frame {
	// The function's name, demangled unless that was not asked for. NULL when unknown.
	const char *function;
	// The name as it stands in the symbol table, or NULL when it is the same.
	const char *linkage_name;
	// Source file, or NULL; line and column are 0 when not known.
	const char *file;
	uint32_t line;
	uint32_t column;
	// The address less the start of the function's symbol; 0 in inlined frames.
	uint64_t offset;
	// The function was inlined into the next frame of the array.
	bool is_inlined;
};

// What one place in an image is called: innermost frame first; count 0 and a reason when it has no
// name.
struct frames {
	const struct frame *items;
	uint32_t count;
	enum unknown_reason unknown;
	// The address the symbol tables speak, when has_address.
	elf_addr address;
	bool has_address;
	// There is no name, but a source line (of padding between functions, say): items[0] tells
	// it although count is 0.
	bool has_line;
	// A file of another build was used because --force said so.
	bool is_forced;
};

#endif
