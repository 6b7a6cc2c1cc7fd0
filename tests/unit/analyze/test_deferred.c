// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The user part of call chains, which comes later, finds the samples it belongs to.
#include "analyze/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "render/export/folded.h"

enum { TEXT = 0x10000, LENGTH = 0x10000 };

static struct recording_builder *begin(bool is_big_endian)
{
	struct recording_builder *builder = recording_builder_new_of(
		&(struct recording_builder_shape){ .is_big_endian = is_big_endian });
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME |
						  SAMPLE_CALLCHAIN,
				   .flags = BUILT_FLAGS };
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	for (uint32_t pid = 1; pid <= 2; pid++) {
		struct mmap_record mmap = { .pid = pid,
					    .tid = pid,
					    .start = TEXT,
					    .length = LENGTH,
					    .path = pid == 1 ? "/one" : "/two" };
		build_comm(builder, built_at(pid, pid, 1),
			   &(struct comm_record){ pid, pid, false, pid == 1 ? "one" : "two" });
		build_mmap2(builder, built_at(pid, pid, 1), MISC_USER, &mmap);
	}
	struct mmap_record kernel = { .pid = UINT32_MAX,
				      .start = UINT64_C(0xffffffff80000000),
				      .length = LENGTH,
				      .page_offset = UINT64_C(0xffffffff80000000),
				      .path = "[kernel.kallsyms]_text" };
	build_mmap(builder, built_at(0, 0, 0), MISC_KERNEL, &kernel);
	return builder;
}

static void kernel_sample(struct recording_builder *builder, uint32_t pid, uint64_t time,
			  uint64_t cookie)
{
	const uint64_t ip = UINT64_C(0xffffffff80000010);
	const uint64_t words[] = { CHAIN_CONTEXT_KERNEL, ip, CHAIN_CONTEXT_USER_DEFERRED, cookie };
	build_sample(builder, 0,
		     &(struct built_sample){ .misc = MISC_KERNEL,
					     .ip = ip,
					     .pid = pid,
					     .tid = pid,
					     .time = time,
					     .chain = words,
					     .chain_count = 4 });
}

static void arrive(struct recording_builder *builder, uint32_t pid, uint64_t time, uint64_t cookie,
		   uint64_t leaf, uint64_t caller)
{
	const uint64_t words[] = { cookie, 3, CHAIN_CONTEXT_USER, leaf, caller };
	_cleanup_buffer_ struct buffer body = { 0 };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		build_put(builder, &body, words[i], 8);
	// The trailer.
	build_put(builder, &body, pid, 4);
	build_put(builder, &body, pid, 4);
	build_put(builder, &body, time, 8);
	build_record(builder, RECORD_CALLCHAIN_DEFERRED, MISC_USER, body.bytes, body.size);
}

static void check_folded(struct recording_builder *builder, unsigned workers, const char *expected)
{
	struct analysis_options options = { .with_chains = true, .workers = workers };
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	FILE *out = open_memstream(&text, &size);
	if (CHECK_OK(analyze(path, &options, &profile)))
		CHECK_OK(folded_write(profile, out));
	fclose(out);
	CHECK_TEXT(text, expected);
	built_file_remove(path);
	buffer_fini(&bytes);
}

static void check_joined(bool is_big_endian, unsigned workers)
{
	struct recording_builder *builder = begin(is_big_endian);
	// Before its samples in the file: written by another processor, to which the thread moved.
	arrive(builder, 2, 40, 5, TEXT + 0x10, TEXT + 0x21);
	kernel_sample(builder, 1, 10, 5);
	kernel_sample(builder, 1, 11, 5);
	arrive(builder, 1, 12, 5, TEXT + 0x30, TEXT + 0x41);
	kernel_sample(builder, 2, 39, 5);
	kernel_sample(builder, 1, 50, 6);
	arrive(builder, 1, 51, 6, TEXT + 0x30, TEXT + 0x41);
	check_folded(builder, workers,
		     "one;/one+0x41;/one+0x30;[kernel.kallsyms]+0x10 3\n"
		     "two;/two+0x21;/two+0x10;[kernel.kallsyms]+0x10 1\n");
}

TEST(samples_get_the_user_part_of_their_thread_and_cookie)
{
	check_joined(false, 1);
	check_joined(false, 2);
}

TEST(the_same_in_the_other_byte_order)
{
	check_joined(true, 1);
}

TEST(a_part_that_never_came_leaves_the_kernels_frames)
{
	struct recording_builder *builder = begin(false);
	kernel_sample(builder, 1, 10, 5);
	arrive(builder, 1, 12, 6, TEXT, TEXT);
	// As another thread's.
	arrive(builder, 2, 12, 5, TEXT, TEXT);
	check_folded(builder, 1, "one;[kernel.kallsyms]+0x10 1\n");
}
