// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The DWARF expressions that call frame information uses (DWARF 5, section 2.5).
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "base/cursor.h"
#include "unwind/registers.h"

// Memory as far as it was recorded: bytes from START on.
struct stack_copy {
	uint64_t start;
	const uint8_t *bytes;
	size_t size;
	bool swap;
};

// The SIZE bytes (1, 2, 4 or 8) at ADDRESS as a number. False outside.
bool stack_read(const struct stack_copy *stack, uint64_t address, unsigned size, uint64_t *ret);

struct expression_input {
	const struct architecture *architecture;
	const struct registers *registers;
	const struct stack_copy *stack;
};

// Evaluates the expression that EXPRESSION stands on, with its size in front, beginning with FIRST
// on the stack where it is given. False when it cannot be done.
bool expression_evaluate(struct cursor expression, const struct expression_input *input,
			 const uint64_t *first, uint64_t *ret);

#endif
