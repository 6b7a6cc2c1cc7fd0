// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a recording says of itself in records, before the first sample: all of it in a pipe, event
// names in a file.
#ifndef PERFDATA_PROLOGUE_H
#define PERFDATA_PROLOGUE_H

#include "perfdata/file_header.h"
#include "perfdata/stream.h"

// Reads STREAM up to its first sample or compressed record; WHOLE, past samples too, since a pipe
// may tell of events and features late. Adds events of HEADER_ATTR records, names of EVENT_UPDATE
// and HEADER_EVENT_TYPE records to events that have none, and places of HEADER_FEATURE and
// HEADER_TRACING_DATA payloads. Sets the stream's alignment. What is wrong with one record costs
// that one.
struct imp_error *prologue_read(struct stream *stream, struct events *events,
				struct feature_sections *sections, bool whole,
				struct warnings *warnings) MUST_CHECK;

#endif
