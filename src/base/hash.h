// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashes for tables in memory: fast, not for content that must be named (that is SHA-256 in
// store/).
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

// Folds VALUE into HASH.
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

// The hash of SIZE bytes, begun from SEED.
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
