// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The symbols and the DWARF of a build, read when first asked for, once for all images of that
// build.
#ifndef SYMBOLIZE_OBJECT_H
#define SYMBOLIZE_OBJECT_H

#include "dwarf/dwarf.h"
#include "elf/symbols.h"
#include "find/finder.h"

struct objects;
struct object;

// LOG (or NULL) is lent until objects_free().
struct imp_error *objects_new(const struct log *log, struct objects **ret) MUST_CHECK;
void objects_free(struct objects *objects);

// The object of the files in FINDING, lent by OBJECTS. Safe from many threads, as is all below.
struct imp_error *objects_get(struct objects *objects, const struct finding *finding,
			      struct object **ret) MUST_CHECK;

// Lent by the object; possibly empty.
struct imp_error *object_symbols(struct object *object, const struct symbols **ret) MUST_CHECK;

// NULL when there is none, or what there is cannot be read (then the log tells).
struct imp_error *object_dwarf(struct object *object, struct dwarf **ret) MUST_CHECK;

#endif
