// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What libFuzzer and the replayer call.
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// What must hold, in debugging builds and others.
#define FUZZ_CHECK(condition)             \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

#endif
