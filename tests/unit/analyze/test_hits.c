// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "analyze/hits.h"

#include <string.h>

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
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN,
		.flags = BUILT_FLAGS,
	};
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	return builder;
}

static void map(struct recording_builder *builder, uint64_t time, uint64_t start, const char *path)
{
	struct mmap_record mmap = {
		.pid = 1, .tid = 1, .start = start, .length = 0x1000, .path = path
	};
	build_mmap2(builder, built_at(1, 1, time), MISC_USER, &mmap);
}

static void sample(struct recording_builder *builder, uint64_t time, uint64_t ip,
		   const uint64_t *chain, uint64_t chain_count)
{
	build_sample(builder, 0,
		     &(struct built_sample){ .misc = MISC_USER,
					     .ip = ip,
					     .pid = 1,
					     .tid = 1,
					     .time = time,
					     .chain = chain,
					     .chain_count = chain_count });
}

// "/a 2 hit, /b 0": the images with their samples, in the order of their first mapping.
static const char *hits_of(struct recording_builder *builder)
{
	static struct buffer text;
	text.size = 0;
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_(cleanup_hits) struct hits *hits = NULL;
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	buffer_fini(&bytes);
	if (tap_check_ok(__FILE__, __LINE__, "open", recording_open(path, NULL, &recording)) &&
	    tap_check_ok(__FILE__, __LINE__, "survey", survey_new(recording, NULL, &survey)) &&
	    tap_check_ok(__FILE__, __LINE__, "hits", hits_count(recording, survey, &hits))) {
		for (uint32_t i = 0; i < hits->image_count; i++)
			buffer_format(&text, "%s%s %llu%s", i ? ", " : "",
				      timeline_image(survey->timeline, i)->path,
				      (unsigned long long)hits->samples[i],
				      hits->is_hit[i] ? " hit" : "");
		for (enum unknown_reason i = 1; i < UNKNOWN_REASONS; i++)
			if (hits->unknown[i])
				buffer_format(&text, ", %s %llu", unknown_reason_name(i),
					      (unsigned long long)hits->unknown[i]);
	}
	built_file_remove(path);
	buffer_append(&text, "", 1);
	return (const char *)text.bytes;
}

TEST(samples_count_for_what_was_mapped_at_their_time)
{
	struct recording_builder *builder = begin();
	map(builder, 10, 0x10000, "/a");
	map(builder, 30, 0x10000, "/b");
	sample(builder, 40, 0x10010, NULL, 0);
	sample(builder, 20, 0x10010, NULL, 0);
	sample(builder, 29, 0x10010, NULL, 0);
	sample(builder, 29, 0x20010, NULL, 0);
	CHECK_TEXT(hits_of(builder), "/a 2 hit, /b 1 hit, [kernel.kallsyms] 0, unmapped 1");
}

TEST(frames_of_a_call_chain_are_hits_and_no_samples)
{
	struct recording_builder *builder = begin();
	map(builder, 10, 0x10000, "/a");
	map(builder, 10, 0x20000, "/b");
	map(builder, 10, 0x30000, "/c");
	map(builder, 10, 0x40000, "/d");
	uint64_t chain[] = { CHAIN_CONTEXT_KERNEL, 0xffffffff81000000, CHAIN_CONTEXT_USER, 0x10010,
			     0x20010,
			     // Returns to behind the end of /c, which the call was the last of.
			     0x31000 };
	sample(builder, 20, 0x10010, chain, sizeof chain / sizeof *chain);
	CHECK_TEXT(hits_of(builder), "/a 1 hit, /b 0 hit, /c 0 hit, /d 0, [kernel.kallsyms] 0 hit");
}

TEST(a_sample_in_the_kernel_is_the_kernels_whatever_the_process)
{
	struct recording_builder *builder = begin();
	map(builder, 10, 0x10000, "/a");
	build_sample(builder, 0,
		     &(struct built_sample){ .misc = MISC_KERNEL,
					     .ip = 0xffffffff81000000,
					     .pid = 99,
					     .tid = 99,
					     .time = 20 });
	CHECK_TEXT(hits_of(builder), "/a 0, [kernel.kallsyms] 1 hit");
}
