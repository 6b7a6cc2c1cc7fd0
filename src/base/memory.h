// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the kernel is told about big memory.
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

// SIZE bytes at MEMORY will be used whole and at random: big pages are asked for where it is big
// enough, which saves most of the page faults and of the address translations. Without effect where
// the kernel has none to give.
void memory_is_big(void *memory, size_t size);

#endif
