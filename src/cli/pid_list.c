// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Parsing lists of process numbers.
#include "cli/pid_list.h"

#include <stdlib.h>

// Takes the numbers of WORD, "1,2,3".
static struct imp_error *take_word(const char *word, struct pid_list *pids)
{
	const char *at = word;
	do {
		char *end;
		unsigned long pid = strtoul(at, &end, 10);
		if (end == at || (*end && *end != ',') || pid == 0 || pid > INT32_MAX)
			return error_new(IMP_ERR_USAGE, "not a process number: %s", word);
		uint32_t *slot = array_add(pids);
		if (!slot)
			return &imp_error_no_memory;
		*slot = (uint32_t)pid;
		at = end + 1;
	} while (at[-1]);
	return NULL;
}

struct imp_error *pid_list_take(const struct option_list *words, struct pid_list *ret)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < words->count; i++)
		err = take_word(words->items[i], ret);
	return err;
}
