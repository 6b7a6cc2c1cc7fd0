// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// SAMPLE records, decoded without copying.
#ifndef PERFDATA_SAMPLE_H
#define PERFDATA_SAMPLE_H

#include "perfdata/record.h"

// Markers in call chains that set the cpumode of what follows.
#define CHAIN_CONTEXT_MAX ((uint64_t)-4095)
#define CHAIN_CONTEXT_HV ((uint64_t)-32)
#define CHAIN_CONTEXT_KERNEL ((uint64_t)-128)
#define CHAIN_CONTEXT_USER ((uint64_t)-512)
#define CHAIN_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CHAIN_CONTEXT_GUEST ((uint64_t)-2048)
#define CHAIN_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CHAIN_CONTEXT_GUEST_USER ((uint64_t)-2560)

// A run of COUNT u64 in the recording's byte order, at any alignment.
struct words {
	const uint8_t *bytes;
	uint64_t count;
	bool swap;
};

static inline uint64_t word_at(const struct words *words, uint64_t index)
{
	uint64_t value;
	memcpy(&value, words->bytes + index * sizeof value, sizeof value);
	return words->swap ? __builtin_bswap64(value) : value;
}

struct sample {
	const struct event *event;
	unsigned cpumode;
	// period is the recorded one; without one the event's fixed period, or 1 where there is
	// only a frequency.
	uint64_t ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	bool has_ip, has_tid, has_time, has_cpu, has_addr, has_id;
	// The read block as it stands in the record (read_format says how it is laid out).
	struct words read_values;
	// As in the record, leaf first, with context markers.
	struct words chain;
	const uint8_t *raw;
	uint32_t raw_size;
	// {from, to, flags} triples, newest first: 3 words a branch.
	struct words branches;
	// abi 0: no registers. Values in ascending order of the event's sample_regs_user bits.
	uint64_t user_abi;
	struct words user_regs;
	const uint8_t *user_stack;
	// Valid bytes of user_stack.
	uint64_t user_stack_size;
	uint64_t intr_abi;
	struct words intr_regs;
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
};

// Decodes RECORD, a SAMPLE. Finds its event by the ID in it. IMP_ERR_BAD_DATA when a length in it
// runs past its end; IMP_ERR_UNSUPPORTED when no event is known for it or the event is opaque.
struct imp_error *sample_read(const struct events *events, const struct record *record,
			      struct sample *ret) MUST_CHECK;

// The rest of a call chain that was not known when its sample was written (CALLCHAIN_DEFERRED):
// takes the place of the marker CHAIN_CONTEXT_USER_DEFERRED and the cookie behind it, in the chain
// of the same thread that ends with both.
struct deferred_chain {
	uint64_t cookie;
	struct words chain;
};
struct imp_error *deferred_chain_read(const struct record *record,
				      struct deferred_chain *ret) MUST_CHECK;

// A branch's flags, laid out as on a little-endian machine: bit 0 mispredicted, 1 predicted, 2 in a
// transaction, 3 abort, 4-19 cycles, 20-23 type.
uint64_t branch_flags(const struct words *branches, uint64_t branch);

#endif
