// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "analyze/survey.h"

#include <string.h>

#include "base/cleanup.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

static struct recording_builder *begin(uint64_t sample_type)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = sample_type, .flags = BUILT_FLAGS };
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	return builder;
}

static void map(struct recording_builder *builder, uint64_t time, const char *path)
{
	struct mmap_record mmap = {
		.pid = 1, .tid = 1, .start = 0x10000, .length = 0x1000, .path = path
	};
	build_mmap2(builder, built_at(1, 1, time), MISC_USER, &mmap);
}

static void sample(struct recording_builder *builder, uint64_t time)
{
	build_sample(builder, 0,
		     &(struct built_sample){
			     .misc = MISC_USER, .ip = 0x10010, .pid = 1, .tid = 1, .time = time });
}

// Surveys what BUILDER has built.
static void survey_of(struct recording_builder *builder, struct recording **recording,
		      struct survey **survey)
{
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	buffer_fini(&bytes);
	if (tap_check_ok(__FILE__, __LINE__, "open", recording_open(path, NULL, recording)))
		CHECK_OK(survey_new(*recording, NULL, survey));
	built_file_remove(path);
}

TEST(counts_records_by_type_and_what_was_lost)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	struct recording_builder *builder = begin(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME);
	map(builder, 10, "/a");
	sample(builder, 30);
	sample(builder, 20);
	build_lost(builder, built_at(0, 0, 25), 7, 12);
	build_lost(builder, built_at(0, 0, 26), 7, 3);
	build_lost_samples(builder, built_at(0, 0, 27), 5);
	build_record(builder, 120, 0, "12345678", 8);
	build_record(builder, 4000, 0, "12345678", 8);
	survey_of(builder, &recording, &survey);
	REQUIRE(survey);
	CHECK_UINT(survey->records[RECORD_MMAP2], 1);
	CHECK_UINT(survey->records[RECORD_SAMPLE], 2);
	CHECK_UINT(survey->records[RECORD_LOST], 2);
	CHECK_UINT(survey->records[120], 1);
	CHECK_UINT(survey->other_records, 1);
	CHECK_UINT(survey->lost_records, 15);
	CHECK_UINT(survey->lost_samples, 5);
	CHECK(survey->has_times && !survey->uses_positions);
	CHECK_UINT(survey->first_time_ns, 20);
	CHECK_UINT(survey->last_time_ns, 30);
}

TEST(a_recording_without_times_is_ordered_by_position)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	struct recording_builder *builder = begin(SAMPLE_IP | SAMPLE_TID);
	map(builder, 0, "/a");
	sample(builder, 0);
	survey_of(builder, &recording, &survey);
	REQUIRE(survey);
	CHECK(survey->uses_positions && !survey->has_times);
	struct record record = { .position = 4711 };
	CHECK_UINT(survey_time(survey, &record, 99), 4711);
}

TEST(the_build_id_table_and_records_in_the_stream_both_count)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	struct recording_builder *builder = begin(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME);
	struct build_id_record entry = { .misc = MISC_USER, .pid = -1, .path = "/table" };
	entry.id.size = 20;
	memset(entry.id.bytes, 1, 20);
	build_table_entry(builder, &entry);
	entry.path = "/stream";
	build_build_id(builder, &entry);
	survey_of(builder, &recording, &survey);
	REQUIRE(survey);
	REQUIRE(timeline_image_count(survey->timeline) >= 2);
	bool has_table = false;
	bool has_stream = false;
	for (uint32_t i = 0; i < timeline_image_count(survey->timeline); i++) {
		const struct image *image = timeline_image(survey->timeline, i);
		has_table = has_table || !strcmp(image->path, "/table");
		has_stream = has_stream || !strcmp(image->path, "/stream");
	}
	CHECK(has_table && has_stream);
}

TEST(a_meta_record_that_cannot_be_read_is_told_of_and_left_out)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	struct recording_builder *builder = begin(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME);
	build_record(builder, RECORD_MMAP, MISC_USER, "12345678", 8);
	map(builder, 10, "/a");
	survey_of(builder, &recording, &survey);
	REQUIRE(survey);
	CHECK_UINT(survey->bad_records, 1);
	REQUIRE(survey->problems[0]);
	CHECK(!strncmp(survey->problems[0], "MMAP at offset ", strlen("MMAP at offset ")));
	CHECK_UINT(survey->records[RECORD_MMAP2], 1);
}
