// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads perf_event_attr, field by field.
#include "perfdata/attr.h"

enum { ATTR_SIZE_FIRST = 64 };

static uint64_t reverse_bits(uint64_t value)
{
	uint64_t reversed = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		reversed |= (value >> bit & 1) << (63 - bit);
	return reversed;
}

// Compilers of big-endian machines lay a bitfield out from its highest bit.
static uint64_t read_flags(struct cursor *cursor)
{
	bool is_big_endian = cursor->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint64_t flags = cursor_u64(cursor);
	return is_big_endian ? reverse_bits(flags) : flags;
}

static void read_first_version(struct cursor *cursor, struct event_attr *attr)
{
	attr->type = cursor_u32(cursor);
	attr->size = cursor_u32(cursor);
	attr->config = cursor_u64(cursor);
	attr->sample_period = cursor_u64(cursor);
	attr->sample_type = cursor_u64(cursor);
	attr->read_format = cursor_u64(cursor);
	attr->flags = read_flags(cursor);
	attr->wakeup = cursor_u32(cursor);
	attr->bp_type = cursor_u32(cursor);
	attr->config1 = cursor_u64(cursor);
}

// What came after the first version; reads beyond the cursor's end give zero.
static void read_later_versions(struct cursor *cursor, struct event_attr *attr)
{
	attr->config2 = cursor_u64(cursor);
	attr->branch_sample_type = cursor_u64(cursor);
	attr->sample_regs_user = cursor_u64(cursor);
	attr->sample_stack_user = cursor_u32(cursor);
	attr->clockid = (int32_t)cursor_u32(cursor);
	attr->sample_regs_intr = cursor_u64(cursor);
	attr->aux_watermark = cursor_u32(cursor);
	attr->sample_max_stack = cursor_u16(cursor);
	cursor_skip(cursor, 2);
	attr->aux_sample_size = cursor_u32(cursor);
	attr->aux_action = cursor_u32(cursor);
	attr->sig_data = cursor_u64(cursor);
	attr->config3 = cursor_u64(cursor);
	attr->config4 = cursor_u64(cursor);
}

struct imp_error *attr_read(struct cursor *cursor, uint32_t size, struct event_attr *ret)
{
	if (size < ATTR_SIZE_FIRST)
		return error_new(IMP_ERR_BAD_DATA, "an event attribute of %u bytes (at least %d)",
				 size, ATTR_SIZE_FIRST);
	struct cursor whole = cursor_part(cursor, size);
	if (whole.failed)
		return cursor_error(cursor, "event attribute");
	struct cursor head = cursor_part(&whole, ATTR_SIZE_FIRST);
	struct event_attr attr = { 0 };
	read_first_version(&head, &attr);
	uint32_t own_size = attr.size < ATTR_SIZE_FIRST ? ATTR_SIZE_FIRST : attr.size;
	uint32_t usable = own_size < size ? own_size : size;
	struct cursor tail = cursor_part(&whole, usable - ATTR_SIZE_FIRST);
	read_later_versions(&tail, &attr);
	*ret = attr;
	return NULL;
}
