// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// .gnu_debugaltlink: where dwz(1) moved what several debug files have in common.
#ifndef ELF_ALTLINK_H
#define ELF_ALTLINK_H

#include "elf/elf_image.h"

// The ID of the file that IMAGE's DWARF refers to, and its path as it stands there (lent by IMAGE,
// relative to IMAGE's directory unless absolute). False without one.
bool elf_altlink(const struct elf_image *image, struct build_id *id, const char **path);

#endif
