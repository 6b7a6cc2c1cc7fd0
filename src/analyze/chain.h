// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A sample's call chain as places: markers read, the sampled address at its head, the frames in the
// order in which they were called back.
#ifndef ANALYZE_CHAIN_H
#define ANALYZE_CHAIN_H

#include "base/array.h"
#include "perfdata/sample.h"

struct chain_entry {
	uint64_t address;
	// As in PERF_RECORD_MISC_CPUMODE_MASK.
	uint8_t cpumode;
	// A return address: the call is before it.
	bool is_return;
};

// Leaf first.
struct chain {
	ARRAY_OF(struct chain_entry) entries;
	// The user's part of the chain comes in a later record with this cookie.
	bool is_deferred;
	uint64_t cookie;
};

// The cpumode that a marker of call chains begins; 0 for one that this build does not know.
uint8_t chain_cpumode(uint64_t marker);

// Reads SAMPLE's chain into CHAIN, whose earlier entries are dropped.
//
// The entry after a marker is an exact address, those behind it are return addresses. The first
// entry of all stands for the sampled address and is replaced by it (a precise event's address may
// lie some instructions before); when it was taken in another mode (the kernel's part of the chain
// was left out), the sampled address comes before it. A sample without a chain has one entry, one
// without an address as many as its chain.
struct imp_error *chain_read(const struct sample *sample, struct chain *chain) MUST_CHECK;

// As chain_read(), but whoever asks looks at the first entry only: the others may be missing.
struct imp_error *chain_read_head(const struct sample *sample, struct chain *chain) MUST_CHECK;

// Appends WORDS, a part of a chain that begins in CPUMODE with an exact address. When CHAIN is but
// the sampled address, taken in that mode, the first word stands for it and is left out.
struct imp_error *chain_append(struct chain *chain, const struct words *words,
			       uint8_t cpumode) MUST_CHECK;

#endif
