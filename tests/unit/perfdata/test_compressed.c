// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Compressed records.
#include "perfdata/recording.h"

#include <string.h>

#include "harness/tap.h"
#include "unit/perfdata/usual.h"

TEST(inflates_records_that_run_across_compressed_ones)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };
	static const size_t steps[] = { 1, 7, 64, 1000, 100000 };
	for (size_t t = 0; t < 2; t++) {
		for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
			struct recording_builder *builder = recording_builder_new();
			add_usual_event(builder, 7);
			build_event_desc(builder);
			build_compressed_begin(builder);
			add_usual_records(builder, 7, 20);
			build_compressed_end(builder, types[t], steps[s]);
			build_finished_round(builder);
			build_compressed_begin(builder);
			for (unsigned i = 0; i < 20; i++)
				build_lost(builder, built_at(1, 1, 9), 7, i);
			build_compressed_end(builder, types[t], steps[s]);
			_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
			struct read_back back;
			REQUIRE_OK(read_back(&bytes, &back));
			check_usual_recording(&back, 20);
			CHECK_UINT(back.by_type[RECORD_LOST], 20);
			CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
			CHECK_UINT(recording_warning_count(back.recording), 0);
			CHECK(read_back_visits_the_same(&back));
			uint64_t records, packed, inflated;
			recording_compression(back.recording, &records, &packed, &inflated);
			uint64_t sum = 0;
			for (size_t i = 0; i < back.count; i++)
				sum += back.items[i].record.size;
			CHECK_UINT(inflated, sum - 8);
			CHECK(records >= 2 && packed > 8 * records);
			read_back_fini(&back);
		}
	}
}

TEST(a_record_between_two_compressed_ones_does_not_tear_what_runs_across_them)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	struct recording_builder *inner = recording_builder_new();
	add_usual_event(inner, 7);
	build_compressed_begin(builder);
	build_comm(builder, built_at(1, 1, 5), &(struct comm_record){ 1, 1, false, "first" });
	build_bytes(builder, "\4\0\0\0\0\0\x38\0half", 12);
	build_compressed_end(builder, RECORD_COMPRESSED, 4096);
	build_finished_round(builder);
	build_compressed_begin(builder);
	build_bytes(builder, (uint8_t[44]){ 0 }, 44);
	build_compressed_end(builder, RECORD_COMPRESSED, 4096);
	struct buffer unused = recording_builder_finish(inner);
	buffer_fini(&unused);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	REQUIRE(back.count == 3);
	CHECK_UINT(back.items[0].record.type, RECORD_COMM);
	CHECK_UINT(back.items[1].record.type, RECORD_FINISHED_ROUND);
	CHECK_UINT(back.items[2].record.type, RECORD_EXIT);
	CHECK(!memcmp(back.items[2].bytes + 8, "half", 4));
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
}

TEST(a_damaged_compressed_record_costs_what_is_compressed_after_it_only)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED, 100000);
	build_record(builder, RECORD_COMPRESSED, 0, "no zstd stream goes on so", 25);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED, 100000);
	build_finished_round(builder);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 5);
	CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK(strstr(read_back_warning(&back, 0), "all compressed ones after it are left out"));
	read_back_fini(&back);
}

TEST(trusts_the_payload_of_a_compressed2_whose_size_overflowed)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED2, 100000);
	build_finished_round(builder);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	// The one event's ID and attr stand before.
	size_t record_at = 104 + 8 + 144;
	bytes.bytes[record_at + 6] = bytes.bytes[record_at + 7] = 0;
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 5);
	CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
	CHECK_UINT(recording_warning_count(back.recording), 0);
	read_back_fini(&back);
}
