// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The machine a recording is made on, as header features.
#ifndef RECORD_HOST_H
#define RECORD_HOST_H

#include "perfdata/writer.h"

// Gives WRITER the features that are known before the recording begins. COMMAND_LINE is what the
// user typed.
struct imp_error *host_write_features(struct writer *writer, const char *const *command_line,
				      size_t count) MUST_CHECK;

#endif
