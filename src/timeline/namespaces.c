// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The sets of namespaces that threads were in, each once.
#include "timeline/namespaces.h"

#include <string.h>

#include "base/hash.h"

void namespace_sets_fini(struct namespace_sets *sets)
{
	array_fini(&sets->all);
	table_fini(&sets->by_content);
}

struct imp_error *namespace_sets_intern(struct namespace_sets *sets,
					const struct namespace_set *set, uint32_t *ret)
{
	uint64_t hash = hash_bytes(0, set, sizeof *set);
	struct table_probe probe = table_probe(&sets->by_content, hash);
	while (table_next(&sets->by_content, &probe, ret))
		if (!memcmp(&sets->all.items[*ret], set, sizeof *set))
			return NULL;
	if (sets->all.count >= UINT32_MAX - 1)
		return &imp_error_no_memory;
	struct namespace_set *fresh = array_add(&sets->all);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *set;
	*ret = (uint32_t)sets->all.count - 1;
	return table_insert(&sets->by_content, hash, *ret) ? NULL : &imp_error_no_memory;
}
