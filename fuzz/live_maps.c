// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Texts of /proc/PID/maps.
#include "live/maps.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *at = (const char *)bytes, *end = at + size;
	struct raw_mapping mapping;
	while (maps_next_line(&at, end, &mapping)) {
		FUZZ_CHECK(at <= end);
		FUZZ_CHECK(!mapping.name_length || (mapping.name >= (const char *)bytes &&
						    mapping.name + mapping.name_length <= end));
	}
	FUZZ_CHECK(at == end);
	return 0;
}
