// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// jit-PID.dump, whole.
#include <string.h>

#include "fuzz.h"
#include "perfdata/jit_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jit_dump *dump = NULL;
	struct imp_error *err = jit_dump_parse(bytes, size, &dump);
	for (size_t i = 0; dump && i < jit_dump_placement_count(dump); i++) {
		const struct jit_placement *placement = jit_dump_placement(dump, i);
		struct jit_function function;
		FUZZ_CHECK(placement->size && placement->offset + placement->size <= size);
		FUZZ_CHECK(jit_dump_function_at(dump, placement->offset, &function));
		FUZZ_CHECK(function.offset == placement->offset);
		FUZZ_CHECK(jit_dump_function_at(dump, placement->offset + placement->size - 1,
						&function));
		FUZZ_CHECK(memchr(function.name, 0, size));
	}
	jit_dump_free(dump);
	imp_error_free(err);
	return 0;
}
