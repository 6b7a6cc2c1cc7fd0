// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Two snapshots compared program by program.
#ifndef ENVIRONMENT_PROGRAM_DIFFERENCE_H
#define ENVIRONMENT_PROGRAM_DIFFERENCE_H

#include "environment/difference.h"

// Fills the programs of RET, sorted by executable and group.
struct imp_error *program_difference(const struct snapshot *before, const struct snapshot *after,
				     struct difference *ret) MUST_CHECK;

#endif
