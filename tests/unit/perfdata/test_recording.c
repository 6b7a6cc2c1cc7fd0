// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Recordings of every form, whole and damaged.
#include "perfdata/recording.h"

#include <string.h>

#include "harness/tap.h"
#include "perfdata/sample.h"
#include "unit/perfdata/usual.h"

TEST(reads_files_and_pipes_of_both_byte_orders)
{
	for (unsigned i = 0; i < 16; i++) {
		struct recording_builder_shape shape = {
			.is_big_endian = i & 1,
			.is_pipe = i & 2,
			.has_attrs_last = (i & 6) == 4,
			.has_aligned_features = i & 4,
			.attr_size = i & 8 ? 64 : 0,
		};
		_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 5);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		check_usual_recording(&back, 5);
		CHECK_TEXT(recording_features(back.recording)->hostname, "host1");
		CHECK_UINT(recording_warning_count(back.recording), 0);
		CHECK_UINT(recording_is_swapped(back.recording), shape.is_big_endian);
		CHECK_UINT(recording_mode(back.recording),
			   shape.is_pipe ? RECORDING_PIPE : RECORDING_FILE);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
}

TEST(reads_the_first_version_of_either_byte_order)
{
	for (unsigned i = 0; i < 2; i++) {
		struct recording_builder_shape shape = { .is_version_1 = true,
							 .is_big_endian = i,
							 .attr_size = 72 };
		_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 3);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		check_usual_recording(&back, 3);
		read_back_fini(&back);
	}
}

TEST(takes_attrs_larger_than_any_known)
{
	struct recording_builder_shape shape = { .attr_size = 512 };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 3);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	check_usual_recording(&back, 3);
	read_back_fini(&back);
}

TEST(reads_a_recording_that_was_never_finished_to_its_end)
{
	struct recording_builder_shape shape = { .is_unfinished = true };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 4);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 4);
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK_TEXT(read_back_warning(&back, 0),
		   "the recording was not finished (its data size is 0): read from offset 256 to "
		   "the end of the file, without header features");
	read_back_fini(&back);
}

TEST(a_recording_cut_anywhere_is_read_to_the_cut)
{
	for (unsigned i = 0; i < 4; i++) {
		struct recording_builder_shape shape = { .is_pipe = i & 1, .is_big_endian = i & 2 };
		_cleanup_buffer_ struct buffer whole = usual_recording(&shape, 2);
		uint64_t before = 0;
		for (size_t size = 0; size < whole.size; size++) {
			struct buffer cut = { .bytes = whole.bytes, .size = size };
			struct read_back back;
			_cleanup_error_ struct imp_error *err = read_back(&cut, &back);
			CHECK(!err || imp_error_code(err) == IMP_ERR_BAD_DATA);
			CHECK(!err || size < 72);
			if (!err) {
				CHECK(back.count >= before);
				CHECK(recording_warning_count(back.recording) > 0 || shape.is_pipe);
				before = back.count;
			}
			read_back_fini(&back);
		}
		CHECK(before >= 4);
	}
}

TEST(says_where_a_record_is_cut)
{
	struct recording_builder_shape shape = { .is_pipe = true };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 2);
	bytes.size -= 3;
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	char expected[100];
	snprintf(expected, sizeof expected,
		 "the record at offset %zu is cut off: 53 bytes are left out", bytes.size - 53);
	CHECK_TEXT(read_back_warning(&back, 0), expected);
	read_back_fini(&back);
}

TEST(stops_at_a_record_without_a_size)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	add_usual_records(builder, 7, 1);
	build_bytes(builder, "\1\0\0\0\0\0\0\0", 8);
	add_usual_records(builder, 7, 1);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	CHECK(recording_warning_count(back.recording) == 1);
	CHECK(strstr(read_back_warning(&back, 0), "damaged at offset ") != NULL);
	read_back_fini(&back);
}

TEST(steps_over_payloads_outside_of_records)
{
	static const uint8_t trace[24] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 };
	struct recording_builder_shape shape = { .is_pipe = true };
	struct recording_builder *builder = recording_builder_new_of(&shape);
	add_usual_event(builder, 7);
	// This record's size is not a multiple of 8: all after it stands at odd addresses.
	build_record(builder, RECORD_HEADER_TRACING_DATA, 0, "\x18\0\0\0", 4);
	build_bytes(builder, trace, sizeof trace);
	struct buffer auxtrace = { 0 };
	build_put(builder, &auxtrace, sizeof trace, 8);
	for (unsigned i = 0; i < 4; i++)
		build_put(builder, &auxtrace, 0, 8);
	build_record(builder, RECORD_AUXTRACE, 0, auxtrace.bytes, auxtrace.size);
	build_bytes(builder, trace, sizeof trace);
	add_usual_records(builder, 7, 2);
	// And one whose payload is not there.
	auxtrace.bytes[0] = 200;
	build_record(builder, RECORD_AUXTRACE, 0, auxtrace.bytes, auxtrace.size);
	buffer_fini(&auxtrace);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_AUXTRACE], 2);
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 2);
	_cleanup_buffer_ struct buffer tracing = { 0 };
	REQUIRE_OK(recording_read_feature(back.recording, FEATURE_TRACING_DATA, &tracing));
	CHECK(tracing.size == sizeof trace && !memcmp(tracing.bytes, trace, sizeof trace));
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK(strstr(read_back_warning(&back, 0), "runs past the end") != NULL);
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
}

TEST(pieces_are_found_whatever_stands_at_their_cuts)
{
	// Samples whose raw data look like records, so that boundaries are guessed wrongly.
	static uint8_t decoy[60004];
	for (size_t at = 4; at + 8 <= sizeof decoy; at += 8)
		memcpy(decoy + at, "\x09\0\0\0\2\0\x08\0", 8);
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_RAW };
	build_event(builder, &attr, NULL, NULL, 0);
	for (unsigned i = 0; i < 100; i++) {
		build_sample(
			builder, 0,
			&(struct built_sample){ .ip = i,
						.raw = decoy,
						.raw_size = (uint32_t)(sizeof decoy - 8 * i) });
		for (unsigned k = 0; k < 900; k++)
			build_sample(
				builder, 0,
				&(struct built_sample){ .ip = k, .raw_size = 12, .raw = decoy });
	}
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	CHECK(bytes.size > 6 * PIECE_SIZE);
	char *path = built_file(&bytes);
	for (unsigned workers = 1; workers <= 8; workers *= 2) {
		struct read_back back;
		REQUIRE_OK(read_back_path(path, workers, &back));
		CHECK_UINT(back.by_type[RECORD_SAMPLE], 100 * 901);
		CHECK_UINT(back.count, 100 * 901);
		CHECK_UINT(recording_warning_count(back.recording), 0);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
	built_file_remove(path);
}

TEST(names_events_by_what_the_recording_says_or_their_attr)
{
	struct recording_builder_shape shape = { .is_pipe = true };
	struct recording_builder *builder = recording_builder_new_of(&shape);
	struct event_attr attr = usual_attr;
	uint64_t ids[] = { 5, 6 };
	build_event(builder, &attr, NULL, &ids[0], 1);
	attr.type = 0;
	attr.config = 1;
	build_event(builder, &attr, NULL, &ids[1], 1);
	struct buffer update = { 0 };
	build_put(builder, &update, 2, 8);
	build_put(builder, &update, 5, 8);
	buffer_append(&update, "my-event", 9);
	build_record(builder, RECORD_EVENT_UPDATE, 0, update.bytes, update.size);
	buffer_fini(&update);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	const struct events *events = recording_events(back.recording);
	REQUIRE(events->count == 2);
	CHECK_TEXT(events->items[0].name, "my-event");
	CHECK_TEXT(events->items[1].name, "instructions");
	CHECK(events_by_id(events, 6) == &events->items[1]);
	CHECK(events_by_id(events, 8) == NULL);
	read_back_fini(&back);
}

TEST(a_broken_feature_costs_itself_alone)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	add_usual_records(builder, 7, 1);
	build_feature(builder, FEATURE_HOSTNAME, "\xff\xff\xff\xffhost", 8);
	build_string_feature(builder, FEATURE_ARCH, "x86_64");
	build_feature(builder, FEATURE_EVENT_DESC, "\xff\xff\xff\xff\1\0\0\0", 8);
	build_feature(builder, FEATURE_BUILD_ID, "\0\0\0\0\2\0\3\0", 8);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_TEXT(recording_features(back.recording)->hostname, NULL);
	CHECK_TEXT(recording_features(back.recording)->arch, "x86_64");
	CHECK_UINT(recording_warning_count(back.recording), 3);
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	read_back_fini(&back);
}

TEST(one_file_of_many_ids_cannot_be_made_to_fill_memory)
{
	// Every event claims the whole file as its IDs.
	struct recording_builder *builder = recording_builder_new();
	for (unsigned i = 0; i < 1000; i++)
		build_event(builder, &usual_attr, NULL, NULL, 0);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	for (unsigned i = 0; i < 1000; i++) {
		memset(bytes.bytes + 104 + 144 * i + 128, 0, 8);
		memcpy(bytes.bytes + 104 + 144 * i + 136, &bytes.size, 8);
	}
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	const struct events *events = recording_events(back.recording);
	size_t ids = 0;
	for (size_t i = 0; i < events->count; i++)
		ids += events->items[i].id_count;
	CHECK_UINT(events->count, 1000);
	CHECK(ids <= bytes.size / 8);
	read_back_fini(&back);
}

TEST(a_pipe_may_tell_of_events_and_features_after_its_first_sample)
{
	for (unsigned i = 0; i < 2; i++) {
		struct recording_builder *builder = recording_builder_new_of(
			&(struct recording_builder_shape){ .is_pipe = true, .is_big_endian = i });
		const uint64_t late_id = 9;
		add_usual_event(builder, 7);
		add_usual_records(builder, 7, 2);
		build_event(builder, &usual_attr, NULL, &late_id, 1);
		build_string_feature(builder, FEATURE_HOSTNAME, "late");
		build_sample(builder, 1, &(struct built_sample){ .ip = 1, .id = late_id });
		_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		const struct events *events = recording_events(back.recording);
		REQUIRE(events->count == 2);
		CHECK_TEXT(recording_features(back.recording)->hostname, "late");
		struct sample sample;
		REQUIRE_OK(sample_read(events, &back.items[back.count - 1].record, &sample));
		CHECK(sample.event == &events->items[1]);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
}
