// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Messages and progress on stderr.
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include "base/log.h"

// The log that writes to stderr; progress only when that is a terminal.
const struct log *terminal_log(void);

// -q: no warnings, no progress. VERBOSE 1 shows notes, 2 debugging.
void terminal_set_level(bool is_quiet, unsigned verbose);

// Removes the progress line, if there is one.
void terminal_end_progress(void);

#endif
