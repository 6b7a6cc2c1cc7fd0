// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Whatever can be seen as a snapshot: the live machine, a snapshot file, a core file.
#ifndef ENVIRONMENT_SOURCE_H
#define ENVIRONMENT_SOURCE_H

#include "environment/gather.h"
#include "environment/snapshot.h"

// Reads NAME: "." is the machine as LIVE (may be NULL) says, else a snapshot or a core file, which
// the file's first bytes tell apart.
struct imp_error *source_snapshot(const char *name, const struct gather_options *live,
				  struct snapshot **ret) MUST_CHECK;

// Whether NAME is a snapshot or a core file, by its first bytes.
bool source_is_snapshot(const char *name);

#endif
