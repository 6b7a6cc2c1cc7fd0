// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Symbolized addresses as text, in the project's own style and those of llvm-symbolizer and
// addr2line, and as JSON.
#ifndef CLI_SYMBOLIZE_PRINT_H
#define CLI_SYMBOLIZE_PRINT_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "symbolize/symbolizer.h"

enum symbolize_style { STYLE_IMPRINT, STYLE_LLVM, STYLE_ADDR2LINE, STYLE_JSON };

// What was printed last: one after the other, many addresses have the same frames. Zero-initialised
// is empty.
struct symbolize_text {
	ARRAY_OF(struct frame) frames;
	struct buffer text;
};

void symbolize_text_fini(struct symbolize_text *text);

struct symbolize_format {
	enum symbolize_style style;
	// What addr2line's -f, -i, -p, -a, -s ask for.
	bool has_functions, has_inlines, is_pretty, has_addresses, has_basenames;
	// All symbols that the name was chosen from.
	bool has_aliases;
	// Say what comes from a file of another build.
	bool marks_forced;
	FILE *out;
	// Lent.
	struct symbolize_text *shown;
	// For STYLE_JSON.
	struct json *json;
};

// An address that was asked for, and the answer.
struct symbolized {
	uint64_t address;
	// NULL when nothing is mapped there.
	const struct image *image;
	// In the file, where has_offset.
	uint64_t offset;
	bool has_offset;
	struct frames frames;
	const struct symbols *aliases;
	size_t first_alias, alias_count;
};

struct imp_error *symbolize_print(const struct symbolize_format *format,
				  const struct symbolized *symbolized) MUST_CHECK;

// What the other tools print for what they cannot read.
struct imp_error *symbolize_print_unknown(const struct symbolize_format *format,
					  uint64_t address) MUST_CHECK;

#endif
