// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashing byte strings, eight bytes at a step.
#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = hash_mix(seed, size);
	for (; size >= 8; at += 8, size -= 8) {
		uint64_t word;
		memcpy(&word, at, sizeof word);
		hash = hash_mix(hash, word);
	}
	if (size) {
		uint64_t word = 0;
		memcpy(&word, at, size);
		hash = hash_mix(hash, word);
	}
	return hash_mix(hash, hash >> 29);
}
