// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Decodes samples: fixed fields by position, the rest straight through.
//
// Source: the comment at PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
#include "perfdata/sample.h"

#include <inttypes.h>

enum { WORD = 8 };

// Bits of attr.read_format.
enum { READ_TIME_ENABLED = 1, READ_TIME_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };
// Bits of attr.branch_sample_type.
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };

static uint32_t u32_at(const struct record *record, size_t at)
{
	uint32_t value;
	memcpy(&value, record->bytes + at, sizeof value);
	return record->swap ? __builtin_bswap32(value) : value;
}

static uint64_t u64_at(const struct record *record, size_t at)
{
	uint64_t value;
	memcpy(&value, record->bytes + at, sizeof value);
	return record->swap ? __builtin_bswap64(value) : value;
}

static struct imp_error *find_event(const struct events *events, const struct record *record,
				    const struct event **ret)
{
	if (events->count == 1) {
		*ret = &events->items[0];
		return NULL;
	}
	uint16_t at = events->sample_id_at;
	if (events->count && at != NO_FIELD && record->size >= (uint32_t)at + WORD) {
		uint64_t id = u64_at(record, at);
		// What perf makes itself has ID 0 and belongs to the first event.
		*ret = id ? events_by_id(events, id) : &events->items[0];
		if (*ret)
			return NULL;
		return error_new(IMP_ERR_UNSUPPORTED,
				 "sample at offset %" PRIu64 " of an unknown event (ID %" PRIu64
				 ")",
				 record->offset, id);
	}
	if (!events->count || !events->are_alike)
		return error_new(IMP_ERR_UNSUPPORTED,
				 "sample at offset %" PRIu64 ": no telling which event it is of",
				 record->offset);
	*ret = &events->items[0];
	return NULL;
}

static inline void read_fixed(const struct record *record, const struct event *event,
			      struct sample *sample)
{
	const struct sample_layout *layout = &event->layout;
	sample->has_ip = layout->ip != NO_FIELD;
	if (sample->has_ip)
		sample->ip = u64_at(record, layout->ip);
	sample->has_tid = layout->tid != NO_FIELD;
	if (sample->has_tid) {
		sample->pid = u32_at(record, layout->tid);
		sample->tid = u32_at(record, layout->tid + 4u);
	}
	sample->has_time = layout->time != NO_FIELD;
	if (sample->has_time)
		sample->time = u64_at(record, layout->time);
	sample->has_addr = layout->addr != NO_FIELD;
	if (sample->has_addr)
		sample->addr = u64_at(record, layout->addr);
	sample->has_id = layout->id != NO_FIELD;
	if (sample->has_id)
		sample->id = u64_at(record, layout->id);
	if (layout->stream_id != NO_FIELD)
		sample->stream_id = u64_at(record, layout->stream_id);
	sample->has_cpu = layout->cpu != NO_FIELD;
	if (sample->has_cpu)
		sample->cpu = u32_at(record, layout->cpu);
	if (layout->period != NO_FIELD)
		sample->period = u64_at(record, layout->period);
	else
		sample->period = attr_has(&event->attr, ATTR_FREQ) || !event->attr.sample_period
					 ? 1
					 : event->attr.sample_period;
}

// The next COUNT words, each of FACTOR u64.
static struct words take_words(struct cursor *rest, uint64_t count, uint64_t factor)
{
	struct words words = { .swap = rest->swap };
	if (count > cursor_left(rest) / WORD / factor) {
		// Fails the cursor where it stands.
		cursor_bytes(rest, SIZE_MAX);
		return words;
	}
	words.bytes = rest->start + rest->at;
	words.count = count * factor;
	cursor_skip(rest, (size_t)words.count * WORD);
	return words;
}

static struct words take_read_values(struct cursor *rest, uint64_t format)
{
	uint64_t times =
		(uint64_t)__builtin_popcountll(format & (READ_TIME_ENABLED | READ_TIME_RUNNING));
	uint64_t each = 1 + (uint64_t)__builtin_popcountll(format & (READ_ID | READ_LOST));
	if (!(format & READ_GROUP))
		return take_words(rest, times + each, 1);
	struct cursor start = *rest;
	uint64_t members = cursor_u64(rest);
	take_words(rest, times, 1);
	take_words(rest, members, each);
	return rest->failed ? (struct words){ 0 }
			    : take_words(&start, (rest->at - start.at) / WORD, 1);
}

static void take_branches(struct cursor *rest, uint64_t branch_type, struct sample *sample)
{
	uint64_t count = cursor_u64(rest);
	if (branch_type & BRANCH_HW_INDEX)
		cursor_skip(rest, WORD);
	sample->branches = take_words(rest, count, 3);
	if (branch_type & BRANCH_COUNTERS)
		take_words(rest, count, 1);
}

static struct words take_registers(struct cursor *rest, uint64_t mask, uint64_t *abi)
{
	*abi = cursor_u64(rest);
	return take_words(rest, *abi ? (uint64_t)__builtin_popcountll(mask) : 0, 1);
}

static void take_user_stack(struct cursor *rest, struct sample *sample)
{
	uint64_t size = cursor_u64(rest);
	if (!size)
		return;
	sample->user_stack = cursor_bytes(rest, size);
	uint64_t valid = cursor_u64(rest);
	sample->user_stack_size = valid < size ? valid : size;
}

static void read_stack_part(struct cursor *rest, const struct event_attr *attr,
			    struct sample *sample)
{
	uint64_t type = attr->sample_type;
	if (type & SAMPLE_READ)
		sample->read_values = take_read_values(rest, attr->read_format);
	if (type & SAMPLE_CALLCHAIN)
		sample->chain = take_words(rest, cursor_u64(rest), 1);
	if (type & SAMPLE_RAW) {
		sample->raw_size = cursor_u32(rest);
		sample->raw = cursor_bytes(rest, sample->raw_size);
	}
	if (type & SAMPLE_BRANCH_STACK)
		take_branches(rest, attr->branch_sample_type, sample);
	if (type & SAMPLE_REGS_USER)
		sample->user_regs = take_registers(rest, attr->sample_regs_user, &sample->user_abi);
	if (type & SAMPLE_STACK_USER)
		take_user_stack(rest, sample);
}

static void read_memory_part(struct cursor *rest, const struct event_attr *attr,
			     struct sample *sample)
{
	uint64_t type = attr->sample_type;
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		sample->weight = cursor_u64(rest);
	if (type & SAMPLE_DATA_SRC)
		sample->data_src = cursor_u64(rest);
	if (type & SAMPLE_TRANSACTION)
		sample->transaction = cursor_u64(rest);
	if (type & SAMPLE_REGS_INTR)
		sample->intr_regs = take_registers(rest, attr->sample_regs_intr, &sample->intr_abi);
	if (type & SAMPLE_PHYS_ADDR)
		sample->phys_addr = cursor_u64(rest);
	if (type & SAMPLE_CGROUP)
		sample->cgroup = cursor_u64(rest);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = cursor_u64(rest);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = cursor_u64(rest);
}

// Of samples that have nothing but fixed fields and a call chain, which most do: the chain, if it
// fits. Everything is known then before anything is written.
static bool read_plain(const struct record *record, const struct event *event, struct sample *ret)
{
	uint64_t type = event->attr.sample_type;
	size_t variable = event->layout.variable;
	struct words chain = { .swap = record->swap };
	if (type & SAMPLE_CALLCHAIN) {
		size_t left = record->size - variable;
		if (left < WORD)
			return false;
		chain.count = u64_at(record, variable);
		if (chain.count > left / WORD - 1)
			return false;
		chain.bytes = record->bytes + variable + WORD;
	}
	// gcc would clear so few bytes with "rep stos", which takes longer than all the rest; the
	// library's memset does not.
	size_t size = sizeof *ret;
	__asm__("" : "+r"(size));
	memset(ret, 0, size);
	ret->event = event;
	ret->cpumode = record->misc & MISC_CPUMODE_MASK;
	ret->chain = chain;
	read_fixed(record, event, ret);
	return true;
}

struct imp_error *sample_read(const struct events *events, const struct record *record,
			      struct sample *ret)
{
	enum {
		MEMORY_BITS = SAMPLE_KNOWN_BITS & ~(2 * SAMPLE_STACK_USER - 1) & ~SAMPLE_IDENTIFIER
	};
	const struct event *event = NULL;
	struct imp_error *err = find_event(events, record, &event);
	if (err)
		return err;
	if (event->is_opaque)
		return error_new(IMP_ERR_UNSUPPORTED,
				 "samples of %s have fields this version does not know",
				 event->name ? event->name : "an event");
	if (record->size < event->layout.variable)
		return error_new(IMP_ERR_BAD_DATA,
				 "sample at offset %" PRIu64 " has %u bytes of at least %u",
				 record->offset, record->size, event->layout.variable);
	if (event->is_plain && read_plain(record, event, ret))
		return NULL;
	struct sample sample = { .event = event, .cpumode = record->misc & MISC_CPUMODE_MASK };
	read_fixed(record, event, &sample);
	struct cursor rest = {
		.start = record->bytes,
		.size = record->size,
		.at = event->layout.variable,
		.origin = record->offset,
		.swap = record->swap,
	};
	read_stack_part(&rest, &event->attr, &sample);
	if (event->attr.sample_type & MEMORY_BITS)
		read_memory_part(&rest, &event->attr, &sample);
	if (rest.failed)
		return cursor_error(&rest, "sample");
	*ret = sample;
	return NULL;
}

struct imp_error *deferred_chain_read(const struct record *record, struct deferred_chain *ret)
{
	struct cursor body = record_body(record);
	struct deferred_chain deferred;
	deferred.cookie = cursor_u64(&body);
	deferred.chain = take_words(&body, cursor_u64(&body), 1);
	if (body.failed)
		return cursor_error(&body, "CALLCHAIN_DEFERRED");
	*ret = deferred;
	return NULL;
}

// The widths of perf_branch_entry's fields, from the lowest bit of a little-endian machine on.
static const uint8_t branch_field_widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };

uint64_t branch_flags(const struct words *branches, uint64_t branch)
{
	uint64_t value = word_at(branches, 3 * branch + 2);
	bool is_big_endian = branches->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (!is_big_endian)
		return value;
	// Compilers of big-endian machines lay the fields out from the highest bit.
	uint64_t flags = 0;
	unsigned low = 0;
	for (size_t i = 0; i < sizeof branch_field_widths; i++) {
		unsigned width = branch_field_widths[i];
		uint64_t field = value >> (64 - low - width) & ((UINT64_C(1) << width) - 1);
		flags |= field << low;
		low += width;
	}
	return flags;
}
