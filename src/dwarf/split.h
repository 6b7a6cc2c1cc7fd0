// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Units whose functions are in files of their own: .dwo files beside the objects, or one .dwp
// package of them (-gsplit-dwarf; DWARF 5, sections 3.1.3 and 7.3).
#ifndef DWARF_SPLIT_H
#define DWARF_SPLIT_H

#include "dwarf/dwarf.h"
#include "dwarf/scopes.h"

struct split_files;

// IMAGE has the skeletons; lent until split_files_free().
struct imp_error *split_files_new(const struct elf_image *image,
				  struct split_files **ret) MUST_CHECK;
void split_files_free(struct split_files *files);

// Reads the scopes of the unit that SKELETON of FILE stands for, from the file that has its ID;
// none when there is no such file, which is counted. Names are kept in POOL. Safe from many
// threads.
struct imp_error *split_scopes_read(struct split_files *files, const struct debug_file *file,
				    const struct unit *skeleton, struct path_pool *pool,
				    struct scope_tree *ret) MUST_CHECK;

// See dwarf_split_loss().
struct dwarf_loss split_files_loss(struct split_files *files);

#endif
