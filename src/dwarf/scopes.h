// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The functions of a unit and the calls inlined into them, with the addresses of each.
#ifndef DWARF_SCOPES_H
#define DWARF_SCOPES_H

#include "dwarf/intervals.h"
#include "dwarf/unit_tables.h"

struct scope_tree {
	// In the order of the entries, so parents come first. call_file is as DWARF numbers files.
	ARRAY_OF(struct scope) scopes;
	ARRAY_OF(const char *) names;
	// Owned by scopes.
	struct intervals places;
};

// Walks UNIT's entries once. A damaged entry ends the walk; what came before it is kept.
struct imp_error *scope_tree_read(const struct debug_file *file, const struct unit *unit,
				  struct scope_tree *ret) MUST_CHECK;
void scope_tree_fini(struct scope_tree *tree);

#endif
