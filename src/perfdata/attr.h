// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf_event_attr as it stands in a recording: any size from 64 bytes on, either byte order.
//
// Source: include/uapi/linux/perf_event.h of Linux 6.18 (PERF_ATTR_SIZE_VER0 to VER9).
#ifndef PERFDATA_ATTR_H
#define PERFDATA_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

// Bits of event_attr.flags, numbered as the bitfield of perf_event_attr is on a little-endian
// machine.
enum attr_flag {
	ATTR_DISABLED = 0,
	ATTR_INHERIT = 1,
	ATTR_PINNED = 2,
	ATTR_EXCLUDE_USER = 4,
	ATTR_EXCLUDE_KERNEL = 5,
	ATTR_EXCLUDE_HV = 6,
	ATTR_MMAP = 8,
	ATTR_COMM = 9,
	ATTR_FREQ = 10,
	ATTR_ENABLE_ON_EXEC = 12,
	ATTR_TASK = 13,
	ATTR_WATERMARK = 14,
	// Two bits.
	ATTR_PRECISE_IP = 15,
	ATTR_MMAP_DATA = 17,
	ATTR_SAMPLE_ID_ALL = 18,
	ATTR_EXCLUDE_HOST = 19,
	ATTR_EXCLUDE_GUEST = 20,
	ATTR_EXCLUDE_CALLCHAIN_KERNEL = 21,
	ATTR_EXCLUDE_CALLCHAIN_USER = 22,
	ATTR_MMAP2 = 23,
	ATTR_COMM_EXEC = 24,
	ATTR_USE_CLOCKID = 25,
	ATTR_CONTEXT_SWITCH = 26,
	ATTR_WRITE_BACKWARD = 27,
	ATTR_NAMESPACES = 28,
	ATTR_KSYMBOL = 29,
	ATTR_BPF_EVENT = 30,
	ATTR_CGROUP = 32,
	ATTR_TEXT_POKE = 33,
	ATTR_BUILD_ID = 34,
};

// Every field in this machine's byte order; what the recorded attr was too short for is zero.
struct event_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	// A period, or a frequency in Hz when ATTR_FREQ is set.
	uint64_t sample_period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;
	uint32_t wakeup;
	uint32_t bp_type;
	uint64_t config1;
	uint64_t config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

static inline bool attr_has(const struct event_attr *attr, enum attr_flag flag)
{
	return attr->flags >> flag & 1;
}

// Reads an attr that occupies SIZE bytes of CURSOR (its own size field may be smaller: the smaller
// of both counts, 0 means 64). IMP_ERR_BAD_DATA when SIZE is below 64 or there are fewer bytes.
struct imp_error *attr_read(struct cursor *cursor, uint32_t size,
			    struct event_attr *ret) MUST_CHECK;

#endif
