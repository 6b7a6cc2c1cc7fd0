// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "unwind/expression.h"

#include <dwarf.h>
#include <elf.h>

#include "harness/tap.h"

static const uint8_t stack_bytes[16] = { 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0 };

static bool evaluate(const uint8_t *code, size_t size, uint64_t *ret)
{
	struct registers registers = { .valid = 1 << 7 | 1 << 16 };
	registers.values[7] = 0x1000;
	registers.values[16] = 0x40100b;
	struct stack_copy stack = { .start = 0x1000, .bytes = stack_bytes, .size = 16 };
	struct expression_input input = { architecture_of(EM_X86_64), &registers, &stack };
	return expression_evaluate(cursor_over(code, size), &input, NULL, ret);
}

TEST(evaluates_what_linkers_write_for_plt_entries)
{
	// rsp + 8 + ((rip & 15) >= 11) << 3
	static const uint8_t code[] = { 11,	  DW_OP_breg7, 8,	  DW_OP_breg16,
					0,	  DW_OP_lit15, DW_OP_and, DW_OP_lit11,
					DW_OP_ge, DW_OP_lit3,  DW_OP_shl, DW_OP_plus };
	uint64_t value = 0;
	CHECK(evaluate(code, sizeof code, &value));
	CHECK_UINT(value, 0x1010);
}

TEST(reads_only_the_recorded_stack)
{
	static const uint8_t inside[] = { 3, DW_OP_breg7, 8, DW_OP_deref };
	static const uint8_t across[] = { 3, DW_OP_breg7, 9, DW_OP_deref };
	static const uint8_t below[] = { 3, DW_OP_breg7, 0x7f, DW_OP_deref };
	uint64_t value = 0;
	CHECK(evaluate(inside, sizeof inside, &value));
	CHECK_UINT(value, 0xffff);
	CHECK(!evaluate(across, sizeof across, &value));
	CHECK(!evaluate(below, sizeof below, &value));
}

TEST(refuses_what_would_not_end_or_does_not_fit)
{
	static const uint8_t forever[] = { 3, DW_OP_skip, 0xfd, 0xff };
	static const uint8_t before[] = { 3, DW_OP_skip, 0xf0, 0xff };
	static const uint8_t empty[] = { 0 };
	static const uint8_t missing_operand[] = { 2, DW_OP_lit1, DW_OP_plus };
	static const uint8_t longer_than_it_is[] = { 9, DW_OP_lit1 };
	static const uint8_t unknown_register[] = { 2, DW_OP_breg3, 0 };
	static const uint8_t unknown[] = { 1, DW_OP_call_ref };
	uint64_t value;
	CHECK(!evaluate(forever, sizeof forever, &value));
	CHECK(!evaluate(before, sizeof before, &value));
	CHECK(!evaluate(empty, sizeof empty, &value));
	CHECK(!evaluate(missing_operand, sizeof missing_operand, &value));
	CHECK(!evaluate(longer_than_it_is, sizeof longer_than_it_is, &value));
	CHECK(!evaluate(unknown_register, sizeof unknown_register, &value));
	CHECK(!evaluate(unknown, sizeof unknown, &value));
	uint8_t pushes[100] = { 99 };
	for (unsigned i = 1; i < 100; i++)
		pushes[i] = DW_OP_lit1;
	CHECK(!evaluate(pushes, sizeof pushes, &value));
}
