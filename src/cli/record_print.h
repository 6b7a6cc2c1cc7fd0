// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What imprint record says when it has ended.
#ifndef CLI_RECORD_PRINT_H
#define CLI_RECORD_PRINT_H

#include "record/recorder.h"

// To standard error: what could not be recorded, the images, and the sums. PLACE is the output as
// the user named it.
void record_print(const struct record_outcome *outcome, const char *place);

#endif
