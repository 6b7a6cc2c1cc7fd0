// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The address ranges of an entry: low and high pc, .debug_ranges or .debug_rnglists.
#ifndef DWARF_RANGES_H
#define DWARF_RANGES_H

#include "dwarf/debug_file.h"
#include "dwarf/intervals.h"

// What DWARF says of where an entry's code lies.
struct code_place {
	bool has_low_pc;
	uint64_t low_pc;
	struct value high_pc, ranges;
};

// Appends the ranges of PLACE that lie in the file's code to RET, owned by OWNER. A list that is
// damaged ends early. *BUDGET is how many entries of lists may still be read, so that entries that
// share long lists cannot multiply them.
struct imp_error *ranges_of_place(const struct debug_file *file, const struct unit *unit,
				  const struct code_place *place, uint32_t owner, uint64_t *budget,
				  struct intervals *ret) MUST_CHECK;

#endif
