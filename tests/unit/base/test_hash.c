// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashes spread over a table's slots whichever part of the key differs.
#include "base/hash.h"

#include <stdlib.h>

#include "base/table.h"
#include "harness/tap.h"

enum { KEYS = 1 << 16 };

// How many of KEYS keys i << SHIFT share the slot of an earlier one, in a table of KEYS slots.
static size_t collisions(unsigned shift)
{
	const struct table table = { .mask = KEYS - 1 };
	_cleanup_free_ bool *taken = calloc(KEYS, sizeof *taken);
	size_t count = 0;
	for (uint64_t i = 0; taken && i < KEYS; i++) {
		struct table_probe probe = table_probe(&table, hash_mix(0, i << shift));
		count += taken[probe.at];
		taken[probe.at] = true;
	}
	return taken ? count : KEYS;
}

TEST(keys_that_differ_anywhere_spread_over_the_slots)
{
	// Random keys would share 37 % of the slots.
	for (unsigned shift = 0; shift <= 48; shift++)
		CHECK(collisions(shift) < KEYS / 2);
}
