// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The tables of registers (System V ABI supplements, and the kernel's perf_regs.h).
#include "unwind/registers.h"

#include <elf.h>
#include <stddef.h>

static const struct architecture architectures[] = {
	{
		.machine = EM_X86_64,
		.word_size = 8,
		.register_count = 17,
		.stack_pointer = 7,
		.frame_pointer = 6,
		.perf_numbers = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 },
		.perf_pc = 8,
		.address_bits = 64,
	},
	{
		.machine = EM_386,
		.word_size = 4,
		.register_count = 9,
		.stack_pointer = 4,
		.frame_pointer = 5,
		.perf_numbers = { 0, 2, 3, 1, 7, 6, 4, 5, 8 },
		.perf_pc = 8,
		.address_bits = 32,
	},
	{
		.machine = EM_AARCH64,
		.word_size = 8,
		.register_count = 32,
		.stack_pointer = 31,
		.frame_pointer = 29,
		.perf_numbers = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
		.perf_pc = 32,
		.address_bits = 48,
	},
};

const struct architecture *architecture_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
		if (architectures[i].machine == machine)
			return &architectures[i];
	return NULL;
}

static bool word_of(const uint64_t *words, uint32_t count, uint64_t mask, unsigned bit,
		    uint64_t *ret)
{
	if (!(mask >> bit & 1))
		return false;
	unsigned index = (unsigned)__builtin_popcountll(mask & ((UINT64_C(1) << bit) - 1));
	if (index >= count)
		return false;
	*ret = words[index];
	return true;
}

bool registers_from_sample(const struct architecture *architecture, const uint64_t *words,
			   uint32_t count, uint64_t mask, struct registers *ret)
{
	struct registers registers = { 0 };
	for (unsigned i = 0; i < architecture->register_count; i++)
		if (word_of(words, count, mask, architecture->perf_numbers[i],
			    &registers.values[i]))
			registers.valid |= UINT64_C(1) << i;
	bool has_pc = word_of(words, count, mask, architecture->perf_pc, &registers.pc);
	if (!has_pc || !(registers.valid >> architecture->stack_pointer & 1))
		return false;
	*ret = registers;
	return true;
}
