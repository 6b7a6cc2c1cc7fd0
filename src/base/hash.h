// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashes for tables in memory: fast, not for content that must be named (that is SHA-256 in
// store/).
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

// Folds VALUE into HASH. Both halves of the product count: the lower one alone would know nothing
// of VALUE's upper bits, and tables use the lower bits.
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	unsigned __int128 product =
		(unsigned __int128)(hash ^ value ^ UINT64_C(0xa0761d6478bd642f)) *
		UINT64_C(0xe7037ed1a0b428db);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// The hash of SIZE bytes, begun from SEED.
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
