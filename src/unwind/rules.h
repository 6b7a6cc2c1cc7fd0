// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// How a frame's caller is found from it at one address: the rules that call frame instructions
// give.
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include "unwind/cfi.h"
#include "unwind/registers.h"

enum rule_kind {
	// Nothing was said: the value stays, which is what callee-saved registers do.
	RULE_UNSPECIFIED,
	RULE_UNDEFINED,
	RULE_SAME,
	// Saved at CFA + value.
	RULE_OFFSET,
	// CFA + value itself.
	RULE_VAL_OFFSET,
	// In register number value.
	RULE_REGISTER,
	// Saved where the expression at offset value of the section says; or what it says.
	RULE_EXPRESSION,
	RULE_VAL_EXPRESSION
};

struct rule {
	uint8_t kind;
	int32_t value;
};

struct rules {
	// RULE_REGISTER with cfa_offset, or RULE_VAL_EXPRESSION.
	uint8_t cfa_kind;
	uint32_t cfa_register;
	int32_t cfa_value;
	struct rule registers[MOST_REGISTERS];
	uint8_t return_column;
	bool is_signal;
	// The section that expressions lie in.
	struct cursor section;
};

// Runs the instructions of DESCRIPTION up to ADDRESS. False when they are damaged, or use what is
// not known here.
bool rules_at(const struct frame_description *description, const struct architecture *architecture,
	      uint64_t address, struct rules *ret);

#endif
