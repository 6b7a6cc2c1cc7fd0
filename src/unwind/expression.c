// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A stack machine with bounded stack and steps.
#include "unwind/expression.h"

#include <dwarf.h>

#include "dwarf/leb.h"

enum { most_values = 32, most_steps = 1000 };

struct machine {
	const struct expression_input *input;
	struct cursor code;
	uint64_t values[most_values];
	unsigned count;
	bool has_failed;
};

bool stack_read(const struct stack_copy *stack, uint64_t address, unsigned size, uint64_t *ret)
{
	uint64_t offset = address - stack->start;
	if (address < stack->start || offset > stack->size || size > stack->size - offset)
		return false;
	struct cursor at = cursor_over(stack->bytes + offset, size);
	at.swap = stack->swap;
	*ret = cursor_sized(&at, size);
	return !at.failed;
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->count == most_values)
		machine->has_failed = true;
	else
		machine->values[machine->count++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->count)
		return machine->values[--machine->count];
	machine->has_failed = true;
	return 0;
}

static void pick(struct machine *machine, unsigned depth)
{
	if (depth < machine->count)
		push(machine, machine->values[machine->count - 1 - depth]);
	else
		machine->has_failed = true;
}

static void push_register(struct machine *machine, uint64_t number, int64_t offset)
{
	const struct registers *registers = machine->input->registers;
	if (number >= machine->input->architecture->register_count ||
	    !(registers->valid >> number & 1))
		machine->has_failed = true;
	else
		push(machine, registers->values[number] + (uint64_t)offset);
}

static void dereference(struct machine *machine, unsigned size)
{
	uint64_t value = 0;
	if (!stack_read(machine->input->stack, pop(machine), size, &value))
		machine->has_failed = true;
	push(machine, value);
}

static bool run_constant(struct machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;
	switch (operation) {
	case DW_OP_const1u:
		push(machine, cursor_u8(code));
		return true;
	case DW_OP_const1s:
		push(machine, (uint64_t)(int8_t)cursor_u8(code));
		return true;
	case DW_OP_const2u:
		push(machine, cursor_u16(code));
		return true;
	case DW_OP_const2s:
		push(machine, (uint64_t)(int16_t)cursor_u16(code));
		return true;
	case DW_OP_const4u:
		push(machine, cursor_u32(code));
		return true;
	case DW_OP_const4s:
		push(machine, (uint64_t)(int32_t)cursor_u32(code));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(machine, cursor_u64(code));
		return true;
	case DW_OP_constu:
		push(machine, cursor_uleb(code));
		return true;
	case DW_OP_consts:
		push(machine, (uint64_t)cursor_sleb(code));
		return true;
	default:
		return false;
	}
}

static uint64_t compute(uint8_t operation, uint64_t left, uint64_t right, bool *is_known)
{
	*is_known = true;
	switch (operation) {
	case DW_OP_and:
		return left & right;
	case DW_OP_or:
		return left | right;
	case DW_OP_xor:
		return left ^ right;
	case DW_OP_plus:
		return left + right;
	case DW_OP_minus:
		return left - right;
	case DW_OP_mul:
		return left * right;
	case DW_OP_shl:
		return right < 64 ? left << right : 0;
	case DW_OP_shr:
		return right < 64 ? left >> right : 0;
	case DW_OP_shra:
		return (uint64_t)((int64_t)left >> (right < 64 ? right : 63));
	case DW_OP_eq:
		return left == right;
	case DW_OP_ne:
		return left != right;
	case DW_OP_ge:
		return (int64_t)left >= (int64_t)right;
	case DW_OP_gt:
		return (int64_t)left > (int64_t)right;
	case DW_OP_le:
		return (int64_t)left <= (int64_t)right;
	case DW_OP_lt:
		return (int64_t)left < (int64_t)right;
	default:
		*is_known = false;
		return 0;
	}
}

static bool run_arithmetic(struct machine *machine, uint8_t operation)
{
	bool is_known;
	compute(operation, 0, 0, &is_known);
	if (!is_known)
		return false;
	uint64_t right = pop(machine), left = pop(machine);
	push(machine, compute(operation, left, right, &is_known));
	return true;
}

static void swap_top(struct machine *machine)
{
	uint64_t upper = pop(machine), lower = pop(machine);
	push(machine, upper);
	push(machine, lower);
}

static void jump(struct machine *machine, bool is_taken)
{
	struct cursor *code = &machine->code;
	int64_t distance = (int16_t)cursor_u16(code);
	int64_t target = (int64_t)code->at + distance;
	if (!is_taken)
		return;
	if (target < 0 || (uint64_t)target > code->size)
		machine->has_failed = true;
	else
		code->at = (size_t)target;
}

static void run_other(struct machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;
	switch (operation) {
	case DW_OP_nop:
		break;
	case DW_OP_deref:
		dereference(machine, machine->input->architecture->word_size);
		break;
	case DW_OP_deref_size:
		dereference(machine, cursor_u8(code));
		break;
	case DW_OP_dup:
		pick(machine, 0);
		break;
	case DW_OP_over:
		pick(machine, 1);
		break;
	case DW_OP_pick:
		pick(machine, cursor_u8(code));
		break;
	case DW_OP_drop:
		pop(machine);
		break;
	case DW_OP_swap:
		swap_top(machine);
		break;
	case DW_OP_neg:
		push(machine, 0 - pop(machine));
		break;
	case DW_OP_not:
		push(machine, ~pop(machine));
		break;
	case DW_OP_plus_uconst:
		push(machine, pop(machine) + cursor_uleb(code));
		break;
	case DW_OP_skip:
		jump(machine, true);
		break;
	case DW_OP_bra:
		jump(machine, pop(machine) != 0);
		break;
	default:
		machine->has_failed = true;
		break;
	}
}

static void run_operation(struct machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;
	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
		push(machine, operation - DW_OP_lit0);
	} else if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
		push_register(machine, operation - DW_OP_breg0, cursor_sleb(code));
	} else if (operation == DW_OP_bregx) {
		uint64_t number = cursor_uleb(code);
		push_register(machine, number, cursor_sleb(code));
	} else if (!run_constant(machine, operation) && !run_arithmetic(machine, operation)) {
		run_other(machine, operation);
	}
}

bool expression_evaluate(struct cursor expression, const struct expression_input *input,
			 const uint64_t *first, uint64_t *ret)
{
	uint64_t size = cursor_uleb(&expression);
	struct machine machine = { .input = input, .code = cursor_part(&expression, (size_t)size) };
	if (machine.code.failed)
		return false;
	if (first)
		push(&machine, *first);
	for (unsigned step = 0; cursor_left(&machine.code); step++) {
		if (step == most_steps || machine.has_failed || machine.code.failed)
			return false;
		run_operation(&machine, cursor_u8(&machine.code));
	}
	*ret = pop(&machine);
	return !machine.has_failed && !machine.code.failed;
}
