// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What an open build is, for the files of this room.
#ifndef DWARF_DWARF_PARTS_H
#define DWARF_DWARF_PARTS_H

#include "dwarf/dwarf.h"
#include "dwarf/index.h"
#include "dwarf/split.h"
#include "dwarf/unit_map.h"

struct dwarf {
	struct debug_file file;
	struct debug_file alt;
	struct unit_map map;
	_Atomic(struct unit_tables *) *tables;
	struct path_pool *paths;
	// In place of all of the above but `map.units` and `tables`.
	struct index_file *index;
	size_t table_count;
	_Atomic uint64_t read_bytes;
};

// The tables of unit INDEX, which the caller gives to unit_tables_free().
struct imp_error *dwarf_make_tables(struct dwarf *dwarf, size_t index,
				    struct unit_tables **ret) MUST_CHECK;

// The same, made once and lent by DWARF. Safe from many threads.
struct imp_error *dwarf_tables(struct dwarf *dwarf, size_t index,
			       const struct unit_tables **ret) MUST_CHECK;

#endif
