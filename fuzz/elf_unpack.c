// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Compressed files and bzImages: never more than the limit and one step.
#include "elf/unpack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { LIMIT = 1 << 20, STEP_MOST = 8 << 20 };
	struct buffer whole = { 0 };
	struct imp_error *err = unpack(bytes, size, LIMIT, &whole);
	FUZZ_CHECK(err || whole.size <= LIMIT + STEP_MOST);
	buffer_fini(&whole);
	imp_error_free(err);
	return 0;
}
