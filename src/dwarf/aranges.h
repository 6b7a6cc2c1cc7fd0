// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// .debug_aranges: which unit has which addresses, for units whose root entry does not say it.
#ifndef DWARF_ARANGES_H
#define DWARF_ARANGES_H

#include "dwarf/debug_file.h"
#include "dwarf/intervals.h"

// Appends the ranges of units without any of their own to PLACES. The table is as old as DWARF 2
// and often missing, partial or wrong, so what units say themselves goes before it.
struct imp_error *aranges_add(const struct debug_file *file, struct intervals *places) MUST_CHECK;

#endif
