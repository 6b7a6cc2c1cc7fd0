// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The few fields of a sample that say where it was, read without looking at the others.
#ifndef ANALYZE_GLANCE_H
#define ANALYZE_GLANCE_H

#include "analyze/survey.h"
#include "perfdata/sample.h"

// Where those fields stand when all samples have them at the same place, and nothing of unknown
// length stands before the call chain.
struct glance_layout {
	size_t ip, tid, time, chain;
	// Bytes that a sample must have at least.
	size_t least;
	bool has_chain, uses_positions;
	bool is_valid;
};

struct glance {
	// UINT32_MAX when not recorded.
	uint32_t pid;
	unsigned cpumode;
	// As survey_time().
	uint64_t time;
	uint64_t ip;
	bool has_ip;
	struct words chain;
};

// One of SURVEY's recording; not valid when samples are to be read field by field.
struct glance_layout glance_layout_of(const struct survey *survey);

// glance_read() for what is not laid out so, is damaged, or is a CALLCHAIN_DEFERRED record.
bool glance_read_slowly(const struct survey *survey, const struct record *record,
			struct glance *ret);

// Reads RECORD, a SAMPLE or CALLCHAIN_DEFERRED. False when it cannot be read.
static inline bool glance_read(const struct glance_layout *layout, const struct survey *survey,
			       const struct record *record, struct glance *ret)
{
	if (__builtin_expect(!layout->is_valid || record->swap || record->size < layout->least ||
				     record->type != RECORD_SAMPLE,
			     0))
		return glance_read_slowly(survey, record, ret);
	const uint8_t *bytes = record->bytes;
	memcpy(&ret->ip, bytes + layout->ip, sizeof ret->ip);
	memcpy(&ret->pid, bytes + layout->tid, sizeof ret->pid);
	ret->time = record->position;
	if (!layout->uses_positions)
		memcpy(&ret->time, bytes + layout->time, sizeof ret->time);
	ret->cpumode = record->misc & MISC_CPUMODE_MASK;
	ret->has_ip = true;
	ret->chain = (struct words){ .bytes = bytes + layout->least };
	if (!layout->has_chain)
		return true;
	memcpy(&ret->chain.count, bytes + layout->chain, sizeof ret->chain.count);
	return ret->chain.count <= (record->size - layout->least) / sizeof(uint64_t) ||
	       glance_read_slowly(survey, record, ret);
}

// The cpumode of what follows MARKER in a call chain.
static inline unsigned glance_mode_of(uint64_t marker)
{
	switch (marker) {
	case CHAIN_CONTEXT_HV:
		return MISC_HYPERVISOR;
	case CHAIN_CONTEXT_KERNEL:
		return MISC_KERNEL;
	case CHAIN_CONTEXT_GUEST:
	case CHAIN_CONTEXT_GUEST_KERNEL:
		return MISC_GUEST_KERNEL;
	case CHAIN_CONTEXT_GUEST_USER:
		return MISC_GUEST_USER;
	case CHAIN_CONTEXT_USER:
	default:
		return MISC_USER;
	}
}

#endif
