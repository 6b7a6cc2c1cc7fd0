// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Relocating the debug sections of relocatable files: object files and kernel modules.
#ifndef DWARF_RELOCATE_H
#define DWARF_RELOCATE_H

#include "dwarf/sections.h"

// Applies the relocations that IMAGE holds for the section of INDEX to SECTION, which becomes a
// copy of its own when there are any. Sections lie where IMAGE says. Relocations of kinds that do
// not occur in debug sections are passed over.
struct imp_error *debug_section_relocate(const struct elf_image *image, size_t index,
					 struct section *section) MUST_CHECK;

#endif
