// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where the sections of a relocatable file lie in memory, as the kernel's module loader puts them.
#ifndef ELF_MODULE_LAYOUT_H
#define ELF_MODULE_LAYOUT_H

#include "elf/elf_image.h"

// Gives every allocated section an address. Executable ones (but those of initialisation) follow
// each other from 0 in the order of the section headers, each aligned, as in the loader's text
// region: for them the address is the distance from the base that /proc/modules names. All others
// lie beyond, where they are in nobody's way. (layout_sections() in kernel/module/main.c; the same
// up to 6.3, where one region held everything, and from 6.4 on.)
void module_layout(struct elf_section *sections, size_t count);

#endif
