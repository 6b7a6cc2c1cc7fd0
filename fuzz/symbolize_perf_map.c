// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf-PID.map files.
#include "symbolize/perf_map.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct perf_map *map = NULL;
	struct imp_error *err = perf_map_parse((const char *)bytes, size, &map);
	for (uint64_t at = 0; !err && at < 0x2000; at += 8) {
		struct perf_map_entry entry;
		if (!perf_map_at(map, at, &entry))
			continue;
		FUZZ_CHECK(at >= entry.start && at - entry.start < entry.size);
		FUZZ_CHECK(strlen(entry.name) <= size);
	}
	perf_map_free(map);
	imp_error_free(err);
	return 0;
}
