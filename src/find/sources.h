// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of sources.
#ifndef FIND_SOURCES_H
#define FIND_SOURCES_H

#include "find/search.h"

extern const struct source_def sources[];
extern const size_t source_count;

#endif
