// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A directory for what is unpacked, gone with all that is in it when it is closed.
#ifndef ARCHIVE_SCRATCH_DIR_H
#define ARCHIVE_SCRATCH_DIR_H

#include "base/error.h"

// Makes a new directory below TMP_DIR; its path to *ret, which scratch_dir_remove() takes.
struct imp_error *scratch_dir_new(const char *tmp_dir, char **ret) MUST_CHECK;

// Removes the directory at PATH with all in it, and frees PATH (or NULL).
void scratch_dir_remove(char *path);

#endif
