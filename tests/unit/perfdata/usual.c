// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What most tests of reading read: an event, a name, a mapping, and samples.
#include "unit/perfdata/usual.h"

#include "harness/tap.h"
#include "perfdata/sample.h"

const struct event_attr usual_attr = {
	.type = 1, .sample_type = USUAL, .flags = BUILT_FLAGS, .sample_period = 1000
};

void add_usual_event(struct recording_builder *builder, uint64_t id)
{
	build_event(builder, &usual_attr, "cpu-clock", &id, 1);
}

void add_usual_records(struct recording_builder *builder, uint64_t id, unsigned count)
{
	struct built_stamp stamp = built_at(10, 11, 100);
	stamp.id = id;
	build_comm(builder, stamp, &(struct comm_record){ 10, 11, true, "app" });
	build_mmap2(builder, stamp, MISC_USER,
		    &(struct mmap_record){ .pid = 10,
					   .tid = 11,
					   .start = 0x400000,
					   .length = 0x1000,
					   .id = build_id_of("0123456789abcdefghij", 20),
					   .prot = 5,
					   .path = "/bin/app" });
	for (unsigned i = 0; i < count; i++)
		build_sample(builder, 0,
			     &(struct built_sample){ .misc = MISC_USER,
						     .ip = 0x400000 + i,
						     .pid = 10,
						     .tid = 11,
						     .time = 200 + i,
						     .id = id,
						     .cpu = 3,
						     .period = 7 });
}

struct buffer usual_recording(const struct recording_builder_shape *shape, unsigned samples)
{
	struct recording_builder *builder = recording_builder_new_of(shape);
	if (shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host1");
	add_usual_event(builder, 7);
	build_event_desc(builder);
	add_usual_records(builder, 7, samples);
	if (!shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host1");
	return recording_builder_finish(builder);
}

void check_usual_recording(const struct read_back *back, unsigned samples)
{
	const struct events *events = recording_events(back->recording);
	REQUIRE(events->count == 1);
	CHECK_UINT(events->items[0].attr.sample_type, USUAL);
	CHECK_UINT(events->items[0].attr.flags, BUILT_FLAGS);
	CHECK_UINT(events->items[0].attr.sample_period, 1000);
	CHECK_TEXT(events->items[0].name, "cpu-clock");
	REQUIRE(events->items[0].id_count == 1);
	CHECK_UINT(events->items[0].ids[0], 7);
	CHECK_UINT(back->by_type[RECORD_COMM], 1);
	CHECK_UINT(back->by_type[RECORD_MMAP2], 1);
	CHECK_UINT(back->by_type[RECORD_SAMPLE], samples);
	for (size_t i = 0, k = 0; i < back->count; i++) {
		struct sample sample;
		if (back->items[i].record.type != RECORD_SAMPLE)
			continue;
		REQUIRE_OK(sample_read(events, &back->items[i].record, &sample));
		CHECK_UINT(sample.ip, 0x400000 + k);
		CHECK_UINT(sample.tid, 11);
		CHECK_UINT(sample.time, 200 + k);
		CHECK_UINT(sample.cpu, 3);
		CHECK_UINT(sample.period, 7);
		k++;
	}
}
