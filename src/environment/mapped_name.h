// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the names alone tell that the kernel gives mapped files: in core files and recordings
// nothing else is left.
#ifndef ENVIRONMENT_MAPPED_NAME_H
#define ENVIRONMENT_MAPPED_NAME_H

#include "environment/snapshot.h"

// Fills in kind, path and is_deleted of IMAGE by NAME. The kernel marks what was deleted by
// " (deleted)"; a file that is really named so cannot be told from one.
struct imp_error *mapped_name_take(struct snapshot *snapshot, const char *name,
				   struct snapshot_image *image) MUST_CHECK;

// A file that a run-time compiler writes its code to for perf: "jit-123.dump".
bool mapped_name_is_jitdump(const char *path);

#endif
