// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Directories searched by build ID, whatever their layout: everything below is looked at once.
#ifndef FIND_DIR_INDEX_H
#define FIND_DIR_INDEX_H

#include "base/log.h"
#include "model/build_id.h"

#include "base/error.h"

struct dir_index;

// Nothing is read before the first question. DIRS (NULL-terminated) and LOG are lent.
struct imp_error *dir_index_new(const char *const *dirs, const struct log *log,
				struct dir_index **ret) MUST_CHECK;
void dir_index_free(struct dir_index *index);

struct indexed_file {
	struct build_id id;
	const char *path;
	// A copy of kallsyms in perf's layout, whose directory is named by the kernel's ID.
	bool is_kallsyms;
};

// The files with build ID ID, in the order of their paths: *first and the result. PADDED: as
// build_id_equal_padded() has it. Safe from many threads.
struct imp_error *dir_index_find(struct dir_index *index, const struct build_id *id, bool padded,
				 const struct indexed_file **first, size_t *count) MUST_CHECK;

// Compressed files, whose ID shows only when they are unpacked: those whose name begins with NAME
// (a module's canonical name, or "vmlinu"), to *paths (freed by the caller, the strings lent).
struct imp_error *dir_index_packed(struct dir_index *index, const char *name, const char ***paths,
				   size_t *count) MUST_CHECK;

// The files whose ID begins with PREFIX, hex digits: *first and the result.
struct imp_error *dir_index_complete(struct dir_index *index, const char *prefix,
				     const struct indexed_file **first, size_t *count) MUST_CHECK;

#endif
