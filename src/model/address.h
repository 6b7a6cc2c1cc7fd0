// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Three kinds of number that never mix, each a type of its own.
#ifndef MODEL_ADDRESS_H
#define MODEL_ADDRESS_H

#include <stdint.h>

// Where something is in a process (or the kernel) at a moment.
typedef struct {
	uint64_t value;
} abs_addr;

// A byte position in an image's file. For what has no file the image kind says what it counts
// (model/image.h).
typedef struct {
	uint64_t value;
} file_off;

// What symbol tables and DWARF speak: st_value, DW_AT_low_pc.
typedef struct {
	uint64_t value;
} elf_addr;

static inline abs_addr abs_addr_of(uint64_t value)
{
	return (abs_addr){ value };
}

static inline file_off file_off_of(uint64_t value)
{
	return (file_off){ value };
}

static inline elf_addr elf_addr_of(uint64_t value)
{
	return (elf_addr){ value };
}

#endif
