// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Asking for big pages.
#include "base/memory.h"

#include <stdint.h>
#include <sys/mman.h>

enum { BIG_PAGE = 2 << 20 };

void memory_is_big(void *memory, size_t size)
{
	uintptr_t start = (uintptr_t)memory, end = start + size;
	start = (start + BIG_PAGE - 1) / BIG_PAGE * BIG_PAGE;
	end = end / BIG_PAGE * BIG_PAGE;
	// Only whole big pages, which are memory of our own and nobody else's.
	if (start < end)
		(void)madvise((char *)memory + (start - (uintptr_t)memory), end - start,
			      MADV_HUGEPAGE);
}
