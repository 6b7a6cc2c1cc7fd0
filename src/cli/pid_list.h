// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Numbers of processes as options give them: "-p 1,2 -p 3".
#ifndef CLI_PID_LIST_H
#define CLI_PID_LIST_H

#include <stdint.h>

#include "cli/options.h"

struct pid_list {
	uint32_t *items;
	size_t count;
	size_t room;
};

// Appends the numbers in WORDS. Free the list with array_fini(), also on failure.
struct imp_error *pid_list_take(const struct option_list *words, struct pid_list *ret) MUST_CHECK;

#endif
