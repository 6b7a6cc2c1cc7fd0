// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The indexes of inlined calls and source lines that a store keeps, each with the build and the
// very content that it was made of.
#ifndef SYMBOLIZE_SAVED_INDEX_H
#define SYMBOLIZE_SAVED_INDEX_H

#include "dwarf/dwarf.h"
#include "store/store.h"

// The files that an index is made of: the one with the DWARF, and the one that dwz moved entries
// to, or NULL.
struct index_files {
	const struct elf_image *debug, *alt;
};

// Opens the index that STORE has of FILES. *ret is NULL when there is none, it is damaged, of
// another version, or of other files; errors are for memory.
struct imp_error *saved_index_find(struct store *store, const struct index_files *files,
				   const struct log *log, struct dwarf **ret) MUST_CHECK;

// Making an index of DWARF, which was read of FILES, is worth its time: half of what has to be read
// for it was read already.
bool saved_index_pays(const struct dwarf *dwarf, const struct index_files *files);

// Makes the index with WORKERS threads (0: one for each processor) and keeps it in STORE, which may
// be written to.
struct imp_error *saved_index_keep(struct store *store, const struct index_files *files,
				   struct dwarf *dwarf, unsigned workers) MUST_CHECK;

#endif
