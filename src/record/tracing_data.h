// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The TRACING_DATA feature: the formats of recorded tracepoints, as trace-cmd and perf write them.
//
// Source: tools/perf/util/trace-event-info.c and trace-event-read.c of Linux 6.12 (version 0.6).
#ifndef RECORD_TRACING_DATA_H
#define RECORD_TRACING_DATA_H

#include "base/buffer.h"
#include "base/error.h"
#include "record/event_set.h"

// Appends what readers need for the tracepoints among SET's events; nothing when there are none, or
// tracefs cannot be read.
struct imp_error *tracing_data_read(const struct event_set *set, struct buffer *ret) MUST_CHECK;

#endif
