// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One pass and two find the same, in recordings made to leave the one pass in doubt.
#include <string.h>

#include "analyze/hits.h"
#include "base/cleanup.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)
DEFINE_CLEANUP(struct hits *, hits, hits_free)

static struct recording_builder *begin(void)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = {
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
		.flags = BUILT_FLAGS,
	};
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	return builder;
}

static void map(struct recording_builder *builder, uint32_t pid, uint64_t time, uint64_t start,
		const char *path)
{
	struct mmap_record mmap = {
		.pid = pid, .tid = pid, .start = start, .length = 0x1000, .path = path
	};
	build_mmap2(builder, built_at(pid, pid, time), MISC_USER, &mmap);
}

static void sample(struct recording_builder *builder, uint32_t pid, uint64_t time, uint64_t ip)
{
	build_sample(builder, 0,
		     &(struct built_sample){
			     .misc = MISC_USER, .ip = ip, .pid = pid, .tid = pid, .time = time });
}

static void append_hits(struct buffer *text, const struct survey *survey, const struct hits *hits)
{
	for (uint32_t i = 0; i < hits->image_count; i++)
		if (hits->is_hit[i])
			buffer_format(text, "%s ", timeline_image(survey->timeline, i)->path);
}

// The paths that were hit; fails when one pass finds others than two.
static const char *hits_of(struct recording_builder *builder)
{
	static struct buffer one;
	_cleanup_buffer_ struct buffer two = { 0 };
	one.size = 0;
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	buffer_fini(&bytes);
	for (unsigned workers = 1; workers <= 3; workers += 2) {
		_cleanup_(cleanup_recording) struct recording *recording = NULL;
		_cleanup_(cleanup_survey) struct survey *survey = NULL;
		_cleanup_(cleanup_hits) struct hits *quick = NULL;
		_cleanup_(cleanup_hits) struct hits *exact = NULL;
		struct recording_options options = { .workers = workers };
		one.size = two.size = 0;
		if (!tap_check_ok(__FILE__, __LINE__, "open",
				  recording_open(path, &options, &recording)) ||
		    !tap_check_ok(__FILE__, __LINE__, "one pass",
				  hits_survey(recording, NULL, &survey, &quick)) ||
		    !tap_check_ok(__FILE__, __LINE__, "two passes",
				  hits_count(recording, survey, &exact)))
			break;
		append_hits(&one, survey, quick);
		append_hits(&two, survey, exact);
		buffer_append(&one, "", 1);
		buffer_append(&two, "", 1);
		CHECK_TEXT((const char *)one.bytes, (const char *)two.bytes);
	}
	built_file_remove(path);
	return (const char *)one.bytes;
}

TEST(a_page_that_changes_hands_is_looked_at_sample_by_sample)
{
	struct recording_builder *builder = begin();
	map(builder, 1, 10, 0x10000, "/before");
	map(builder, 1, 20, 0x10000, "/between");
	map(builder, 1, 30, 0x10000, "/after");
	// The page was seen at 15 and at 35, and never as /between.
	sample(builder, 1, 15, 0x10010);
	sample(builder, 1, 35, 0x10020);
	CHECK_TEXT(hits_of(builder), "/before /after ");
}

TEST(neighbours_in_time_and_space_do_not_lend_each_other_their_hits)
{
	struct recording_builder *builder = begin();
	map(builder, 1, 10, 0x10000, "/a");
	map(builder, 1, 20, 0x11000, "/b");
	sample(builder, 1, 15, 0x10010);
	// Before /b was mapped.
	sample(builder, 1, 16, 0x11010);
	sample(builder, 1, 25, 0x10010);
	CHECK_TEXT(hits_of(builder), "/a ");
}

TEST(a_process_number_used_again_soon_is_told_apart)
{
	struct recording_builder *builder = begin();
	map(builder, 1, 10, 0x10000, "/parent");
	struct task_record task = { .pid = 2, .parent_pid = 1, .tid = 2, .parent_tid = 1 };
	task.time = 20;
	build_fork(builder, built_at(2, 2, 20), &task);
	struct comm_record comm = { 2, 2, true, "new" };
	build_comm(builder, built_at(2, 2, 30), &comm);
	map(builder, 2, 31, 0x10000, "/child");
	task.time = 40;
	build_exit(builder, built_at(2, 2, 40), &task);
	task.time = 50;
	build_fork(builder, built_at(2, 2, 50), &task);
	sample(builder, 2, 25, 0x10010);
	sample(builder, 2, 55, 0x10010);
	CHECK_TEXT(hits_of(builder), "/parent ");
}

TEST(programs_in_one_page_of_the_kernel_are_told_apart)
{
	struct recording_builder *builder = begin();
	struct ksymbol_record symbol = {
		.start = 0xffffffffc0000000, .length = 0x40, .type = 1, .name = "bpf_prog_one"
	};
	build_ksymbol(builder, built_at(0, 0, 0), &symbol);
	symbol.start += 0x40;
	symbol.name = "bpf_prog_two";
	build_ksymbol(builder, built_at(0, 0, 0), &symbol);
	build_sample(builder, 0,
		     &(struct built_sample){ .misc = MISC_KERNEL,
					     .ip = 0xffffffffc0000048,
					     .pid = 1,
					     .tid = 1,
					     .time = 20 });
	CHECK_TEXT(hits_of(builder), "bpf_prog_two ");
}

TEST(the_last_address_of_all_is_an_address_like_any_other)
{
	struct recording_builder *builder = begin();
	map(builder, 1, 10, 0x10000, "/a");
	sample(builder, 1, 15, UINT64_MAX);
	sample(builder, 1, 15, UINT64_MAX - 0x1000);
	sample(builder, 1, 15, 0);
	CHECK_TEXT(hits_of(builder), "");
}

// More than are kept without being settled, over many rounds, in which each process maps a library
// of its own and one that all have.
TEST(a_recording_longer_than_memory_is_settled_on_the_way)
{
	enum { PROCESSES = 50000 };
	struct recording_builder *builder = begin();
	uint64_t time = 1000;
	for (uint32_t pid = 1; pid <= PROCESSES; pid++, time += 100) {
		bool is_odd = pid % 1000 == 7;
		map(builder, pid, time, 0x10000, is_odd ? "/rare" : "/common");
		map(builder, pid, time + 1, 0x10000000, "/never");
		sample(builder, pid, time + 2, 0x10010);
		sample(builder, pid, time + 3, 0x20000000);
		if (pid % 100 == 0)
			build_finished_round(builder);
	}
	CHECK_TEXT(hits_of(builder), "/common /rare ");
}

TEST(a_round_that_promised_too_much_is_seen_through)
{
	enum { PROCESSES = 50000 };
	struct recording_builder *builder = begin();
	uint64_t time = 100000;
	for (uint32_t pid = 1; pid <= PROCESSES; pid++, time += 100) {
		map(builder, pid, time, 0x10000, "/common");
		sample(builder, pid, time + 2, 0x10010);
		sample(builder, pid, time + 3, 0x20000000);
		if (pid % 100 == 0)
			build_finished_round(builder);
	}
	// Process 1 had this in place of /common all the time.
	map(builder, 1, 100001, 0x10000, "/late");
	CHECK_TEXT(hits_of(builder), "/common /late ");
}
