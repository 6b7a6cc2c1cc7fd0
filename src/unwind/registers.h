// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which register is which: perf's numbers and DWARF's, for each architecture that is unwound.
#ifndef UNWIND_REGISTERS_H
#define UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_REGISTERS = 34 };

struct architecture {
	// EM_… of elf.h.
	uint16_t machine;
	uint8_t word_size;
	// How many registers DWARF numbers here, and which of them are the stack pointer, the frame
	// pointer and the one that holds the pc (or will, on return).
	uint8_t register_count, stack_pointer, frame_pointer;
	// By frame pointer: the caller's frame pointer is at [fp], the return address at [fp +
	// word]. perf's number (include/uapi/asm/perf_regs.h) of each register of DWARF; of the pc.
	uint8_t perf_numbers[MOST_REGISTERS];
	uint8_t perf_pc;
	// Bits of a code address; what a pointer has above may be its signature.
	uint8_t address_bits;
};

// NULL for an architecture that is not known here.
const struct architecture *architecture_of(uint16_t machine);

// The registers of a frame. Those that are not valid are not known.
struct registers {
	uint64_t values[MOST_REGISTERS];
	uint64_t valid;
	uint64_t pc;
};

// Takes the registers of a sample: WORDS are the values of the bits set in MASK, in ascending
// order, COUNT of them. False when the pc or the stack pointer is not among them.
bool registers_from_sample(const struct architecture *architecture, const uint64_t *words,
			   uint32_t count, uint64_t mask, struct registers *ret);

#endif
