// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From address ranges that overlap and nest to a partition in which each address has one owner.
#ifndef DWARF_INTERVALS_H
#define DWARF_INTERVALS_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define NO_OWNER UINT32_MAX

// [begin, end) belongs to OWNER.
struct interval {
	uint64_t begin, end;
	uint32_t owner;
};

// From begin on, up to the next boundary, OWNER owns; or NO_OWNER.
struct boundary {
	uint64_t begin;
	uint32_t owner;
};

struct intervals {
	ARRAY_OF(struct interval) list;
};

struct boundaries {
	ARRAY_OF(struct boundary) list;
};

// Sorts INTERVALS and appends their partition to RET: where several cover an address, the highest
// owner has it. O(n log n) whatever the input is.
struct imp_error *intervals_partition(struct intervals *intervals,
				      struct boundaries *ret) MUST_CHECK;

// The owner of ADDRESS, or NO_OWNER.
uint32_t boundaries_owner(const struct boundaries *boundaries, uint64_t address);

#endif
