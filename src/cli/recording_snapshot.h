// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Recordings and archives where what ran is asked for.
#ifndef CLI_RECORDING_SNAPSHOT_H
#define CLI_RECORDING_SNAPSHOT_H

#include "base/log.h"
#include "environment/snapshot.h"

// What the recording at PATH ("-": standard input; may be an archive) saw run.
struct imp_error *recording_snapshot(const char *path, const struct log *log,
				     struct snapshot **ret) MUST_CHECK;

#endif
