// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The images of a core file, as `imprint list` prints those of a recording.
#ifndef CLI_LIST_CORE_H
#define CLI_LIST_CORE_H

#include "base/error.h"

// Prints ID and path of each file that the process of the core file at PATH had mapped, and its
// vdso; "none" for what the core does not have the notes of.
struct imp_error *list_core(const char *path) MUST_CHECK;

#endif
