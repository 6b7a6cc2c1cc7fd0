// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making and removing directories.
#include "archive/scratch_dir.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

struct imp_error *scratch_dir_new(const char *tmp_dir, char **ret)
{
	char *path = NULL;
	if (asprintf(&path, "%s/imprint-XXXXXX", tmp_dir) < 0)
		return &imp_error_no_memory;
	if (!mkdtemp(path)) {
		free(path);
		return error_system(errno, "%s: cannot make a directory", tmp_dir);
	}
	*ret = path;
	return NULL;
}

void scratch_dir_remove(char *path)
{
	if (!path)
		return;
	char *roots[] = { path, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	for (FTSENT *file; walk && (file = fts_read(walk));)
		if (file->fts_info != FTS_D)
			(void)remove(file->fts_accpath);
	if (walk)
		(void)fts_close(walk);
	free(path);
}
