// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The name of a function entry, through the entries that it is an instance or a definition of.
#ifndef DWARF_ENTRY_NAME_H
#define DWARF_ENTRY_NAME_H

#include "dwarf/debug_file.h"

// The attributes that name an entry, or lead to one that does.
struct naming {
	struct value linkage_name, name;
	// DW_AT_abstract_origin or DW_AT_specification.
	struct value origin;
};

// Takes VALUE of attribute NAME when it is one of those.
void naming_take(struct naming *naming, uint16_t name, struct value value);

// *RET becomes the linkage name where one is found on the way, else the first plain name, else
// NULL; lent by the sections. References that lead nowhere, or round in a circle, end the search.
// ABBREVS are UNIT's.
struct imp_error *entry_name(const struct debug_file *file, const struct unit *unit,
			     const struct abbrev_table *abbrevs, const struct naming *naming,
			     const char **ret) MUST_CHECK;

#endif
