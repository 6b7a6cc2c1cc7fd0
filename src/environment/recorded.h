// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A snapshot of what a recording saw run.
//
// Each process has the mappings that it had last: when the recording, or the process, ended. Images
// that were mapped before that only are described, too; they belong to no process then. Build IDs
// are those that the recording itself gives, with its word on how sure they are.
#ifndef ENVIRONMENT_RECORDED_H
#define ENVIRONMENT_RECORDED_H

#include "environment/snapshot.h"
#include "perfdata/recording.h"
#include "timeline/timeline.h"

// TIMELINE is RECORDING's, finished; END_NS the time of its last sample (0: not known).
struct imp_error *recorded_snapshot(const struct recording *recording,
				    const struct timeline *timeline, uint64_t end_ns,
				    struct snapshot **ret) MUST_CHECK;

#endif
