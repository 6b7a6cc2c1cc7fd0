// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "unwind/registers.h"

#include <elf.h>

#include "harness/tap.h"

// What perf record --call-graph dwarf asks for on x86_64: all but the data segments.
static const uint64_t x86_mask = 0xff0fff;

TEST(takes_the_registers_of_x86_64_in_the_order_of_the_mask)
{
	uint64_t words[20];
	for (unsigned i = 0; i < 20; i++)
		words[i] = 100 + i;
	struct registers registers;
	const struct architecture *architecture = architecture_of(EM_X86_64);
	REQUIRE(architecture);
	REQUIRE(registers_from_sample(architecture, words, 20, x86_mask, &registers));
	CHECK_UINT(registers.pc, 108);
	// rsp, rbp, rbx, r8, r15
	CHECK_UINT(registers.values[7], 107);
	CHECK_UINT(registers.values[6], 106);
	CHECK_UINT(registers.values[3], 101);
	CHECK_UINT(registers.values[8], 112);
	CHECK_UINT(registers.values[15], 119);
	CHECK_UINT(registers.valid, 0x1ffff);
}

TEST(a_sample_without_pc_or_stack_pointer_cannot_be_unwound)
{
	uint64_t words[20] = { 0 };
	struct registers registers;
	const struct architecture *architecture = architecture_of(EM_X86_64);
	CHECK(!registers_from_sample(architecture, words, 20, x86_mask & ~(1ULL << 8), &registers));
	CHECK(!registers_from_sample(architecture, words, 20, x86_mask & ~(1ULL << 7), &registers));
	CHECK(!registers_from_sample(architecture, words, 8, x86_mask, &registers));
	CHECK(!architecture_of(EM_SPARC));
}

TEST(takes_the_registers_of_aarch64)
{
	uint64_t words[33];
	for (unsigned i = 0; i < 33; i++)
		words[i] = i;
	struct registers registers;
	REQUIRE(registers_from_sample(architecture_of(EM_AARCH64), words, 33, 0x1ffffffff,
				      &registers));
	CHECK_UINT(registers.pc, 32);
	CHECK_UINT(registers.values[31], 31);
	CHECK_UINT(registers.values[30], 30);
}
