// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Samples: 48 bytes that shape two events, then one SAMPLE with its header.
#include "fuzz.h"
#include "perfdata/sample.h"

static uint64_t sum_words(const struct words *words)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < words->count; i++)
		sum += word_at(words, i);
	return sum;
}

static uint64_t sum_bytes(const uint8_t *bytes, uint64_t size)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; bytes && i < size; i++)
		sum += bytes[i];
	return sum;
}

// Touches everything a sample lends.
static uint64_t touch(const struct sample *sample)
{
	uint64_t sum = sum_words(&sample->read_values) + sum_words(&sample->chain) +
		       sum_words(&sample->branches) + sum_words(&sample->user_regs) +
		       sum_words(&sample->intr_regs) + sum_bytes(sample->raw, sample->raw_size) +
		       sum_bytes(sample->user_stack, sample->user_stack_size);
	for (uint64_t i = 0; i < sample->branches.count / 3; i++)
		sum += branch_flags(&sample->branches, i);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { SHAPE_SIZE = 48 };
	if (size < SHAPE_SIZE + RECORD_HEADER_SIZE || size > SHAPE_SIZE + RECORD_MOST_BYTES)
		return 0;
	struct cursor shape = cursor_over(bytes, SHAPE_SIZE);
	uint64_t switches = cursor_u64(&shape);
	uint64_t ids[] = { 1, 2 };
	struct event items[2] = { { .attr = { .sample_type = cursor_u64(&shape),
					      .read_format = cursor_u64(&shape),
					      .branch_sample_type = cursor_u64(&shape),
					      .sample_regs_user = cursor_u64(&shape),
					      .sample_regs_intr = cursor_u64(&shape) },
				    .ids = &ids[0],
				    .id_count = 1 } };
	items[1] = items[0];
	items[1].ids = &ids[1];
	if (switches & 4)
		items[1].attr.sample_type ^= SAMPLE_IDENTIFIER | SAMPLE_ADDR;
	struct events events = { .items = items, .count = switches & 2 ? 2 : 1 };
	struct imp_error *err = events_index(&events);
	FUZZ_CHECK(!err);
	struct record record = { .type = RECORD_SAMPLE,
				 .size = (uint32_t)(size - SHAPE_SIZE),
				 .bytes = bytes + SHAPE_SIZE,
				 .swap = switches & 1 };
	struct sample sample;
	err = sample_read(&events, &record, &sample);
	static volatile uint64_t sink;
	if (!err)
		sink = touch(&sample);
	(void)sink;
	imp_error_free(err);
	free(events.by_id);
	return 0;
}
