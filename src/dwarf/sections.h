// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The debug sections of an ELF file as plain bytes: unpacked where they are compressed, relocated
// where the file is relocatable.
#ifndef DWARF_SECTIONS_H
#define DWARF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "elf/elf_image.h"

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_LINE,
	DEBUG_STR,
	DEBUG_LINE_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_ADDR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_ARANGES,
	DEBUG_SECTIONS
};

// Bytes of a section; none when it is missing.
struct section {
	// Lent by the image, or `owned`.
	const uint8_t *bytes;
	size_t size;
	// To be freed with the sections, or NULL.
	void *owned;
};

struct debug_sections {
	struct section all[DEBUG_SECTIONS];
	// Lent.
	const struct elf_image *image;
	// The bytes are of the other byte order.
	bool swap;
	// An object file or a kernel module: addresses begin at 0.
	bool is_relocatable;
};

// The sections of IMAGE, which is lent until debug_sections_close(). Not having any is an answer.
struct imp_error *debug_sections_open(const struct elf_image *image,
				      struct debug_sections *ret) MUST_CHECK;
// The same of those whose names end in .dwo: the sections of split units.
struct imp_error *debug_sections_open_split(const struct elf_image *image,
					    struct debug_sections *ret) MUST_CHECK;
void debug_sections_close(struct debug_sections *sections);

// A cursor over one section from OFFSET on; failed when that is outside.
struct cursor debug_section_from(const struct debug_sections *sections, enum debug_section which,
				 uint64_t offset);

// The string at OFFSET of a string section, lent; NULL when OFFSET is outside.
const char *debug_section_string(const struct debug_sections *sections, enum debug_section which,
				 uint64_t offset);

// Tells the kernel that SIZE bytes at OFFSET will not be read again soon. Only a hint; nothing is
// lost.
void debug_section_release(const struct debug_sections *sections, enum debug_section which,
			   uint64_t offset, uint64_t size);

#endif
