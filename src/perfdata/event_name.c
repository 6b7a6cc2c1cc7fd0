// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names of events whose recording does not name them, made from their attrs.
//
// Source: enum perf_type_id and its companions in include/uapi/linux/perf_event.h; the names are
// those of `perf list`.
#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "perfdata/event.h"

enum { TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_HW_CACHE, TYPE_RAW, TYPE_BREAKPOINT };

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};
static const char *const cache_names[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					   "iTLB",	"branch",    "node" };
static const char *const cache_operations[] = { "load", "store", "prefetch" };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void name_cache_event(struct buffer *name, uint64_t config)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff,
		 result = config >> 16 & 0xff;
	if (cache >= COUNT_OF(cache_names) || operation >= COUNT_OF(cache_operations) || result > 1)
		buffer_format(name, "hw-cache 0x%" PRIx64, config);
	else
		buffer_format(name, "%s-%s%s", cache_names[cache], cache_operations[operation],
			      result ? "-misses" : "s");
}

static void name_event(struct buffer *name, const struct event_attr *attr)
{
	// On machines with several kinds of core the upper half says which kind.
	uint64_t config = attr->config & UINT32_MAX;
	if (attr->type == TYPE_HARDWARE && config < COUNT_OF(hardware_names))
		buffer_text(name, hardware_names[config]);
	else if (attr->type == TYPE_SOFTWARE && attr->config < COUNT_OF(software_names))
		buffer_text(name, software_names[attr->config]);
	else if (attr->type == TYPE_TRACEPOINT)
		buffer_format(name, "tracepoint %" PRIu64, attr->config);
	else if (attr->type == TYPE_HW_CACHE)
		name_cache_event(name, config);
	else if (attr->type == TYPE_RAW)
		buffer_format(name, "raw 0x%" PRIx64, attr->config);
	else if (attr->type == TYPE_BREAKPOINT)
		buffer_format(name, "mem:0x%" PRIx64, attr->config1);
	else
		buffer_format(name, "type %" PRIu32 " config 0x%" PRIx64, attr->type, attr->config);
}

char *event_name_of(const struct event_attr *attr)
{
	struct buffer name = { 0 };
	name_event(&name, attr);
	buffer_append(&name, "", 1);
	if (name.failed) {
		buffer_fini(&name);
		return NULL;
	}
	return (char *)name.bytes;
}

static const char *const sample_bit_names[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};

const char *sample_bit_name(unsigned bit)
{
	return bit < COUNT_OF(sample_bit_names) ? sample_bit_names[bit] : NULL;
}
