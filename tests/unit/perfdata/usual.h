// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What most tests of reading read: an event, a name, a mapping, and samples.
#ifndef TESTS_PERFDATA_USUAL_H
#define TESTS_PERFDATA_USUAL_H

#include "make/recording.h"
#include "unit/perfdata/read_back.h"

enum { USUAL = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_CPU | SAMPLE_PERIOD };

extern const struct event_attr usual_attr;

void add_usual_event(struct recording_builder *builder, uint64_t id);
// A mapping, a name and COUNT samples of event ID.
void add_usual_records(struct recording_builder *builder, uint64_t id, unsigned count);
struct buffer usual_recording(const struct recording_builder_shape *shape, unsigned samples);
// Checks all that usual_recording() wrote.
void check_usual_recording(const struct read_back *back, unsigned samples);

#endif
