// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A directory of links in which each path of a process leads to the file of the build that was
// mapped, wherever that file is: what debuggers call a sysroot.
#ifndef CLI_SYSROOT_H
#define CLI_SYSROOT_H

#include <limits.h>

#include "environment/snapshot.h"
#include "find/finder.h"

struct sysroot {
	// "" when it was not made.
	char dir[PATH_MAX];
	size_t linked, missing;
	// Images whose file is not the one at their path.
	size_t elsewhere;
};

// Makes one for SNAPSHOT in $TMPDIR or /tmp; what FINDER does not find is counted and told to LOG.
// Give RET to sysroot_remove() also on failure.
struct imp_error *sysroot_make(const struct snapshot *snapshot, struct finder *finder,
			       const struct log *log, struct sysroot *ret) MUST_CHECK;
void sysroot_remove(struct sysroot *sysroot);

#endif
