// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The file that .gnu_debugaltlink names: debug entries that dwz moved out because several files had
// them.
#ifndef SYMBOLIZE_ALT_LINK_H
#define SYMBOLIZE_ALT_LINK_H

#include "dwarf/sections.h"
#include "find/finder.h"

// Opens the sections of the file that IMAGE's link means, found by its build ID like any other;
// *ret stays empty when IMAGE has no link, or the file is not there (then LOG tells).
struct imp_error *alt_link_open(struct finder *finder, const struct elf_image *image,
				const struct log *log, struct debug_sections *ret) MUST_CHECK;

#endif
