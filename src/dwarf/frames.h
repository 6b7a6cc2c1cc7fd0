// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From one unit's tables to the frames at an address.
#ifndef DWARF_FRAMES_H
#define DWARF_FRAMES_H

#include "dwarf/dwarf.h"
#include "dwarf/unit_tables.h"

// The frames at RELATIVE, counted from the tables' base, as dwarf_find() tells them.
void frames_of_tables(const struct unit_tables *tables, uint32_t relative,
		      struct dwarf_frame *frames, uint32_t *count);

#endif
