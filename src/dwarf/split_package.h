// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A .dwp package: the split units of many objects, found by their IDs (DWARF 5, section 7.3.5;
// GNU's version 2 before it).
#ifndef DWARF_SPLIT_PACKAGE_H
#define DWARF_SPLIT_PACKAGE_H

#include "dwarf/sections.h"

// Narrows SECTIONS, those of the package IMAGE, to what belongs to the unit of ID. False when the
// package does not have it, or says of it what cannot be.
bool split_package_narrow(const struct elf_image *image, uint64_t id,
			  struct debug_sections *sections);

#endif
