// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/sample.h"

#include "harness/tap.h"
#include "make/recording.h"
#include "unit/perfdata/read_back.h"

static const uint64_t chain[] = { (uint64_t)-512, 0x401000, 0x402000 };
static const uint64_t branches[] = { 0x10, 0x20, 0x35, 0x30, 0x40, 0 };
static const uint64_t registers[] = { 7, 8, 9 };
static const uint8_t raw[] = "twelve bytes";
static const uint8_t stack[] = "sixteen bytes of";

static const struct event_attr full_attr = {
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR |
		       SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN | SAMPLE_RAW |
		       SAMPLE_BRANCH_STACK | SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_WEIGHT,
	.sample_regs_user = 0x92,
	.flags = BUILT_FLAGS,
};

static const struct built_sample full_sample = {
	.misc = MISC_USER,
	.pid = 1,
	.tid = 2,
	.cpu = 3,
	.ip = 0x401000,
	.time = 5,
	.addr = 6,
	.id = 77,
	.period = 8,
	.weight = 9,
	.chain = chain,
	.chain_count = 3,
	.raw = raw,
	.raw_size = 12,
	.branches = branches,
	.branch_count = 2,
	.user_abi = 2,
	.user_regs = registers,
	.stack = stack,
	.stack_size = 16,
	.stack_valid = 8,
};

static void read_full_sample(bool is_big_endian, struct read_back *back)
{
	struct recording_builder *builder = recording_builder_new_of(
		&(struct recording_builder_shape){ .is_big_endian = is_big_endian });
	uint64_t ids[] = { 77, 78 };
	build_event(builder, &full_attr, "one", &ids[0], 1);
	build_event(builder, &full_attr, "two", &ids[1], 1);
	build_sample(builder, 0, &full_sample);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	REQUIRE_OK(read_back(&bytes, back));
	REQUIRE(back->count == 1);
}

TEST(reads_every_part_of_a_sample_in_both_byte_orders)
{
	for (unsigned i = 0; i < 2; i++) {
		struct read_back back;
		struct sample sample;
		read_full_sample(i, &back);
		const struct events *events = recording_events(back.recording);
		REQUIRE_OK(sample_read(events, &back.items[0].record, &sample));
		CHECK(sample.event == &events->items[0]);
		CHECK_UINT(sample.cpumode, MISC_USER);
		CHECK_UINT(sample.pid, 1);
		CHECK_UINT(sample.tid, 2);
		CHECK_UINT(sample.cpu, 3);
		CHECK_UINT(sample.ip, 0x401000);
		CHECK_UINT(sample.time, 5);
		CHECK_UINT(sample.addr, 6);
		CHECK_UINT(sample.id, 77);
		CHECK_UINT(sample.period, 8);
		CHECK_UINT(sample.weight, 9);
		REQUIRE(sample.chain.count == 3);
		CHECK_UINT(word_at(&sample.chain, 0), CHAIN_CONTEXT_USER);
		CHECK_UINT(word_at(&sample.chain, 2), 0x402000);
		REQUIRE(sample.raw_size == 12);
		CHECK(!memcmp(sample.raw, raw, 12));
		REQUIRE(sample.branches.count == 6);
		CHECK_UINT(word_at(&sample.branches, 4), 0x40);
		REQUIRE(sample.user_regs.count == 3);
		CHECK_UINT(word_at(&sample.user_regs, 2), 9);
		CHECK_UINT(sample.user_stack_size, 8);
		CHECK(!memcmp(sample.user_stack, stack, 8));
		read_back_fini(&back);
	}
}

TEST(refuses_a_sample_cut_at_any_length)
{
	struct read_back back;
	read_full_sample(false, &back);
	struct record record = back.items[0].record;
	uint32_t whole = record.size;
	for (record.size = RECORD_HEADER_SIZE; record.size < whole; record.size++) {
		struct sample sample;
		struct imp_error *err =
			sample_read(recording_events(back.recording), &record, &sample);
		CHECK(err != NULL);
		imp_error_free(err);
	}
	read_back_fini(&back);
}

TEST(a_branch_of_a_big_endian_machine_has_its_flags_at_the_other_end)
{
	// mispred, then cycles 3: bit 63, and 16 bits that end at bit 44.
	uint8_t triple[24] = { [16] = 0x80, [18] = 0x30 };
	struct words words = { .bytes = triple, .count = 3, .swap = true };
	CHECK_UINT(branch_flags(&words, 0), 1 | 3 << 4);
	uint8_t little[24] = { [16] = 0x31 };
	words = (struct words){ .bytes = little, .count = 3 };
	CHECK_UINT(branch_flags(&words, 0), 1 | 3 << 4);
}

TEST(a_sample_of_an_event_with_unknown_fields_is_not_guessed_at)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = SAMPLE_IP | UINT64_C(1) << 40 };
	build_event(builder, &attr, "future", NULL, 0);
	build_sample(builder, 0, &full_sample);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	struct sample sample;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_ERROR(sample_read(recording_events(back.recording), &back.items[0].record, &sample),
		    IMP_ERR_UNSUPPORTED);
	read_back_fini(&back);
}

TEST(a_sample_belongs_to_the_event_of_its_id_and_no_other)
{
	struct recording_builder *builder = recording_builder_new();
	uint64_t ids[] = { 5, 6 };
	struct event_attr attr = { .sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP };
	build_event(builder, &attr, "one", &ids[0], 1);
	attr.sample_type |= SAMPLE_ADDR;
	build_event(builder, &attr, "two", &ids[1], 1);
	build_sample(builder, 1, &(struct built_sample){ .id = 6, .ip = 1, .addr = 2 });
	build_sample(builder, 1, &(struct built_sample){ .id = 9, .ip = 1, .addr = 2 });
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	struct sample sample;
	REQUIRE_OK(read_back(&bytes, &back));
	const struct events *events = recording_events(back.recording);
	REQUIRE(back.count == 2);
	REQUIRE_OK(sample_read(events, &back.items[0].record, &sample));
	CHECK(sample.event == &events->items[1]);
	CHECK_UINT(sample.addr, 2);
	CHECK_ERROR(sample_read(events, &back.items[1].record, &sample), IMP_ERR_UNSUPPORTED);
	read_back_fini(&back);
}

TEST(a_deferred_chain_has_its_cookie_and_frames)
{
	uint8_t bytes[8 + 8 + 8 + 16] = {
		RECORD_CALLCHAIN_DEFERRED, [8] = 42, [16] = 2, [24] = 7, [32] = 8
	};
	struct record record = { .type = RECORD_CALLCHAIN_DEFERRED,
				 .size = sizeof bytes,
				 .bytes = bytes };
	struct deferred_chain deferred;
	REQUIRE_OK(deferred_chain_read(&record, &deferred));
	CHECK_UINT(deferred.cookie, 42);
	REQUIRE(deferred.chain.count == 2);
	CHECK_UINT(word_at(&deferred.chain, 1), 8);
	bytes[16] = 3;
	CHECK_ERROR(deferred_chain_read(&record, &deferred), IMP_ERR_BAD_DATA);
}
