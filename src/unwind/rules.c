// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Running call frame instructions (DWARF 5, section 6.4.2).
#include "unwind/rules.h"

#include <dwarf.h>
#include <elf.h>

#include "dwarf/leb.h"

// DW_CFA_remember_state may be nested this deep.
enum { most_remembered = 16 };

struct run {
	const struct frame_description *description;
	const struct architecture *architecture;
	uint64_t wanted;
	uint64_t location;
	struct rules *rules;
	struct rules initial;
	struct rules remembered[most_remembered];
	unsigned remembered_count;
	bool is_damaged;
};

static int32_t narrow(struct run *run, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		run->is_damaged = true;
	return (int32_t)value;
}

// Rules of registers that are not followed (vector registers) are passed over.
static void set_rule(struct run *run, uint64_t number, enum rule_kind kind, int64_t value)
{
	if (number < run->architecture->register_count)
		run->rules->registers[number] =
			(struct rule){ .kind = (uint8_t)kind, .value = narrow(run, value) };
}

static void restore_rule(struct run *run, uint64_t number)
{
	if (number < run->architecture->register_count)
		run->rules->registers[number] = run->initial.registers[number];
}

static int64_t factored(const struct run *run, int64_t value)
{
	int64_t product;
	if (__builtin_mul_overflow(value, run->description->data_alignment, &product))
		return INT64_MAX;
	return product;
}

static void set_cfa(struct run *run, uint64_t number, int64_t offset)
{
	run->rules->cfa_kind = RULE_REGISTER;
	run->rules->cfa_register = number > MOST_REGISTERS ? MOST_REGISTERS : (uint32_t)number;
	run->rules->cfa_value = narrow(run, offset);
}

// Notes where an expression stands and moves past it.
static int64_t take_expression(struct cursor *at)
{
	int64_t offset = (int64_t)at->at;
	uint64_t size = cursor_uleb(at);
	cursor_skip(at, (size_t)size);
	return offset;
}

static void advance(struct run *run, uint64_t delta)
{
	run->location += delta * run->description->code_alignment;
}

static void remember(struct run *run)
{
	if (run->remembered_count == most_remembered)
		run->is_damaged = true;
	else
		run->remembered[run->remembered_count++] = *run->rules;
}

static void recall(struct run *run)
{
	if (run->remembered_count == 0)
		run->is_damaged = true;
	else
		*run->rules = run->remembered[--run->remembered_count];
}

static void run_vendor(struct run *run, struct cursor *at, uint8_t instruction)
{
	// DW_CFA_AARCH64_negate_ra_state has the number of DW_CFA_GNU_window_save: the return
	// address is signed from here on, or no longer. Signatures are always cut off.
	bool is_signing = instruction == DW_CFA_GNU_window_save &&
			  run->architecture->machine == EM_AARCH64;
	if (instruction == DW_CFA_GNU_args_size)
		cursor_uleb(at);
	else if (!is_signing)
		run->is_damaged = true;
}

static void run_cfa(struct run *run, struct cursor *at, uint8_t instruction)
{
	uint64_t number;
	switch (instruction) {
	case DW_CFA_def_cfa:
		number = cursor_uleb(at);
		set_cfa(run, number, (int64_t)cursor_uleb(at));
		break;
	case DW_CFA_def_cfa_sf:
		number = cursor_uleb(at);
		set_cfa(run, number, factored(run, cursor_sleb(at)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa(run, cursor_uleb(at), run->rules->cfa_value);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(run, run->rules->cfa_register, (int64_t)cursor_uleb(at));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(run, run->rules->cfa_register, factored(run, cursor_sleb(at)));
		break;
	case DW_CFA_def_cfa_expression:
		run->rules->cfa_value = narrow(run, take_expression(at));
		run->rules->cfa_kind = RULE_VAL_EXPRESSION;
		break;
	default:
		run_vendor(run, at, instruction);
		break;
	}
}

static void run_register(struct run *run, struct cursor *at, uint8_t instruction)
{
	uint64_t number = cursor_uleb(at);
	switch (instruction) {
	case DW_CFA_offset_extended:
		set_rule(run, number, RULE_OFFSET, factored(run, (int64_t)cursor_uleb(at)));
		break;
	case DW_CFA_offset_extended_sf:
		set_rule(run, number, RULE_OFFSET, factored(run, cursor_sleb(at)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(run, number, RULE_OFFSET, -factored(run, (int64_t)cursor_uleb(at)));
		break;
	case DW_CFA_val_offset:
		set_rule(run, number, RULE_VAL_OFFSET, factored(run, (int64_t)cursor_uleb(at)));
		break;
	case DW_CFA_val_offset_sf:
		set_rule(run, number, RULE_VAL_OFFSET, factored(run, cursor_sleb(at)));
		break;
	case DW_CFA_restore_extended:
		restore_rule(run, number);
		break;
	case DW_CFA_undefined:
		set_rule(run, number, RULE_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_rule(run, number, RULE_SAME, 0);
		break;
	case DW_CFA_register:
		set_rule(run, number, RULE_REGISTER, (int64_t)cursor_uleb(at));
		break;
	case DW_CFA_expression:
		set_rule(run, number, RULE_EXPRESSION, take_expression(at));
		break;
	default:
		set_rule(run, number, RULE_VAL_EXPRESSION, take_expression(at));
		break;
	}
}

static void run_extended(struct run *run, struct cursor *at, uint8_t instruction)
{
	const struct frame_description *description = run->description;
	switch (instruction) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		run->location = cfi_pointer(at, description->section_address,
					    description->pointer_encoding,
					    description->address_size);
		break;
	case DW_CFA_advance_loc1:
		advance(run, cursor_u8(at));
		break;
	case DW_CFA_advance_loc2:
		advance(run, cursor_u16(at));
		break;
	case DW_CFA_advance_loc4:
		advance(run, cursor_u32(at));
		break;
	case DW_CFA_remember_state:
		remember(run);
		break;
	case DW_CFA_restore_state:
		recall(run);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		run_register(run, at, instruction);
		break;
	default:
		run_cfa(run, at, instruction);
		break;
	}
}

static bool run_instructions(struct run *run, size_t start, size_t end)
{
	struct cursor at = run->description->section;
	if (end > at.size || start > end)
		return false;
	// Expressions are known by their offset in the section, so the cursor is the section's.
	at.size = end;
	at.at = start;
	while (cursor_left(&at) && !at.failed && !run->is_damaged) {
		uint8_t instruction = cursor_u8(&at);
		uint8_t operand = instruction & 0x3f;
		switch (instruction & 0xc0) {
		case DW_CFA_advance_loc:
			advance(run, operand);
			break;
		case DW_CFA_offset:
			set_rule(run, operand, RULE_OFFSET,
				 factored(run, (int64_t)cursor_uleb(&at)));
			break;
		case DW_CFA_restore:
			restore_rule(run, operand);
			break;
		default:
			run_extended(run, &at, instruction);
			break;
		}
		if (run->location > run->wanted)
			break;
	}
	return !at.failed && !run->is_damaged;
}

bool rules_at(const struct frame_description *description, const struct architecture *architecture,
	      uint64_t address, struct rules *ret)
{
	struct run run = { .description = description,
			   .architecture = architecture,
			   .wanted = UINT64_MAX,
			   .rules = ret };
	*ret = (struct rules){ .section = description->section,
			       .is_signal = description->is_signal,
			       .cfa_register = MOST_REGISTERS };
	if (description->return_column >= architecture->register_count)
		return false;
	ret->return_column = (uint8_t)description->return_column;
	if (!run_instructions(&run, description->common_start, description->common_end))
		return false;
	run.initial = *ret;
	run.location = description->start;
	run.wanted = address;
	return run_instructions(&run, description->own_start, description->own_end);
}
