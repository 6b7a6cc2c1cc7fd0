// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which unit of a file has an address.
#ifndef DWARF_UNIT_MAP_H
#define DWARF_UNIT_MAP_H

#include "dwarf/debug_file.h"
#include "dwarf/intervals.h"

// Zero-initialised is empty.
struct unit_map {
	// Owners are indexes of units.
	struct boundaries units;
	// The lowest address of each unit, UINT64_MAX without any; NULL when the map is a saved
	// index's.
	uint64_t *bases;
};

// Maps FILE's units. On failure, too, RET is to be given to unit_map_fini().
struct imp_error *unit_map_read(const struct debug_file *file, struct unit_map *ret) MUST_CHECK;
void unit_map_fini(struct unit_map *map);

#endif
