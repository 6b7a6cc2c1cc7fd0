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

// LOG (or NULL) is lent until objects_free(). INDEX_DIR is the store that keeps saved indexes,
// NULL: none is used.
struct imp_error *objects_new(const struct log *log, const char *index_dir,
			      struct objects **ret) MUST_CHECK;
void objects_free(struct objects *objects);

// Makes and keeps an index of each build for which it pays, where the store is there and may be
// written to.
struct imp_error *objects_save_indexes(struct objects *objects, unsigned workers) MUST_CHECK;

// The object of the files in FINDING, lent by OBJECTS. Safe from many threads, as is all below.
struct imp_error *objects_get(struct objects *objects, const struct finding *finding,
			      struct object **ret) MUST_CHECK;

// Lent by the object; possibly empty.
struct imp_error *object_symbols(struct object *object, const struct symbols **ret) MUST_CHECK;

// What dwarf_find() tells of ADDRESS, from a saved index where there is one; nothing when there is
// no DWARF, or what there is cannot be read (then the log tells).
struct imp_error *object_lines(struct object *object, elf_addr address, struct dwarf_frame *frames,
			       uint32_t *count) MUST_CHECK;

// Reads what object_lines() will need for ADDRESSES: see dwarf_prepare().
struct imp_error *object_prepare(struct object *object, const elf_addr *addresses, size_t count,
				 unsigned workers) MUST_CHECK;

// There is DWARF, or an index of it.
struct imp_error *object_has_lines(struct object *object, bool *ret) MUST_CHECK;

#endif
