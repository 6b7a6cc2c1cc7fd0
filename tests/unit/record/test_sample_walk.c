// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/sample_walk.h"

#include <linux/perf_event.h>
#include <string.h>

#include "harness/tap.h"
#include "perfdata/record_build.h"

enum { TYPES = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD };

// A sample of process 7 at IP with a chain of two further entries.
static void put_sample(struct buffer *out, uint64_t ip, uint64_t time, uint64_t caller)
{
	uint64_t words[] = { 1,	   ip, 7 | UINT64_C(7) << 32, time, 0,
			     1000, 3,  PERF_CONTEXT_USER,     ip,   caller };
	record_build_plain(out, RECORD_SAMPLE, MISC_USER, words, sizeof words);
}

TEST(counts_samples_and_times_and_hands_each_page_on_once)
{
	struct sample_walk walk;
	REQUIRE(sample_walk_init(&walk, TYPES));
	walk.wants_pages = true;
	_cleanup_buffer_ struct buffer ring = { 0 };
	put_sample(&ring, 0x401000, 50, 0x7f0000001000);
	put_sample(&ring, 0x401010, 40, 0x7f0000001000);
	struct iovec part = { ring.bytes, ring.size };
	sample_walk(&walk, &part, 1);
	CHECK_UINT(walk.samples, 2);
	CHECK_UINT(walk.first_ns, 40);
	CHECK_UINT(walk.last_ns, 50);
	REQUIRE(walk.pages.count == 2);
	CHECK_UINT(walk.pages.items[0].address, 0x401000);
	CHECK_UINT(walk.pages.items[1].address, 0x7f0000001000);
	CHECK_UINT(walk.pages.items[1].pid, 7);
	sample_walk_forget(&walk, 7);
	sample_walk(&walk, &part, 1);
	CHECK_UINT(walk.pages.count, 4);
	sample_walk_fini(&walk);
}

TEST(a_record_that_wraps_is_seen_whole_wherever_it_is_cut)
{
	_cleanup_buffer_ struct buffer ring = { 0 };
	put_sample(&ring, 0x401000, 1, 0x402000);
	put_sample(&ring, 0x403000, 2, 0x404000);
	put_sample(&ring, 0x405000, 3, 0x406000);
	for (size_t cut = 0; cut <= ring.size; cut += 8) {
		struct sample_walk walk;
		REQUIRE(sample_walk_init(&walk, TYPES));
		walk.wants_pages = true;
		struct iovec parts[] = { { ring.bytes, cut },
					 { ring.bytes + cut, ring.size - cut } };
		sample_walk(&walk, parts, 2);
		CHECK_UINT(walk.samples, 3);
		CHECK_UINT(walk.pages.count, 6);
		sample_walk_fini(&walk);
	}
}

TEST(a_chain_longer_than_its_record_is_not_read_beyond_it)
{
	struct sample_walk walk;
	REQUIRE(sample_walk_init(&walk, TYPES));
	walk.wants_pages = true;
	_cleanup_buffer_ struct buffer ring = { 0 };
	put_sample(&ring, 0x401000, 1, 0x402000);
	uint64_t count = UINT64_MAX;
	memcpy(ring.bytes + 56, &count, sizeof count);
	struct iovec part = { ring.bytes, ring.size };
	sample_walk(&walk, &part, 1);
	CHECK_UINT(walk.pages.count, 2);
	sample_walk_fini(&walk);
}

TEST(a_mapping_known_to_be_hit_is_looked_at_again_only_when_its_process_maps_something)
{
	struct sample_walk walk;
	REQUIRE(sample_walk_init(&walk, TYPES));
	walk.wants_pages = true;
	_cleanup_buffer_ struct buffer ring = { 0 };
	put_sample(&ring, 0x401000, 1, 0x404fff);
	put_sample(&ring, 0x405000, 2, 0x400fff);
	struct iovec part = { ring.bytes, ring.size };
	sample_walk_know(&walk, 7, 0x401000, 0x405000);
	// The same place in a process whose number has the same remainder.
	sample_walk_know(&walk, 7 + RANGE_SLOTS, 0x400000, 0x408000);
	sample_walk(&walk, &part, 1);
	REQUIRE(walk.pages.count == 2);
	CHECK_UINT(walk.pages.items[0].address, 0x405000);
	CHECK_UINT(walk.pages.items[1].address, 0x400fff);
	sample_walk_forget(&walk, 7);
	sample_walk(&walk, &part, 1);
	CHECK_UINT(walk.pages.count, 6);
	sample_walk_fini(&walk);
}

TEST(lost_records_are_summed)
{
	struct sample_walk walk;
	REQUIRE(sample_walk_init(&walk, 0));
	_cleanup_buffer_ struct buffer ring = { 0 };
	record_build_lost(&ring, 1, 20, NULL);
	record_build_lost(&ring, 2, 3, NULL);
	struct iovec part = { ring.bytes, ring.size };
	sample_walk(&walk, &part, 1);
	CHECK_UINT(walk.lost, 23);
	sample_walk_fini(&walk);
}
