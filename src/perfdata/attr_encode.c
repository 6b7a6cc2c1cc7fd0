// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Laying an attr out field by field, by the offsets of include/uapi/linux/perf_event.h.
#include "perfdata/attr_encode.h"

#include <string.h>

static void put_u16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof value);
}

static void put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static void put_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

static uint32_t encoded_size(const struct event_attr *attr)
{
	if (attr->config4)
		return ATTR_MOST_BYTES;
	return attr->config3 ? 136 : ATTR_USUAL_BYTES;
}

uint32_t attr_encode(const struct event_attr *attr, uint8_t bytes[ATTR_MOST_BYTES])
{
	uint32_t size = encoded_size(attr);
	memset(bytes, 0, ATTR_MOST_BYTES);
	put_u32(bytes, attr->type);
	put_u32(bytes + 4, size);
	put_u64(bytes + 8, attr->config);
	put_u64(bytes + 16, attr->sample_period);
	put_u64(bytes + 24, attr->sample_type);
	put_u64(bytes + 32, attr->read_format);
	put_u64(bytes + 40, attr->flags);
	put_u32(bytes + 48, attr->wakeup);
	put_u32(bytes + 52, attr->bp_type);
	put_u64(bytes + 56, attr->config1);
	put_u64(bytes + 64, attr->config2);
	put_u64(bytes + 72, attr->branch_sample_type);
	put_u64(bytes + 80, attr->sample_regs_user);
	put_u32(bytes + 88, attr->sample_stack_user);
	put_u32(bytes + 92, (uint32_t)attr->clockid);
	put_u64(bytes + 96, attr->sample_regs_intr);
	put_u32(bytes + 104, attr->aux_watermark);
	put_u16(bytes + 108, attr->sample_max_stack);
	put_u32(bytes + 112, attr->aux_sample_size);
	put_u32(bytes + 116, attr->aux_action);
	put_u64(bytes + 120, attr->sig_data);
	put_u64(bytes + 128, attr->config3);
	put_u64(bytes + 136, attr->config4);
	return size;
}
