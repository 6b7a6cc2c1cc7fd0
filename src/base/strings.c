// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Interning strings.
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void strings_fini(struct strings *strings)
{
	for (size_t i = 0; i < strings->all.count; i++)
		free(strings->all.items[i]);
	array_fini(&strings->all);
	table_fini(&strings->table);
}

struct imp_error *strings_intern(struct strings *strings, const char *text, size_t length,
				 uint32_t *ret)
{
	length = strnlen(text, length);
	uint64_t hash = hash_bytes(0, text, length);
	struct table_probe probe = table_probe(&strings->table, hash);
	uint32_t number;
	while (table_next(&strings->table, &probe, &number)) {
		const char *known = strings->all.items[number];
		if (!strncmp(known, text, length) && !known[length]) {
			*ret = number;
			return NULL;
		}
	}
	_cleanup_free_ char *copy = strndup(text, length);
	if (!copy || !array_reserve(&strings->all, 1))
		return &imp_error_no_memory;
	number = (uint32_t)strings->all.count;
	if (!table_insert(&strings->table, hash, number))
		return &imp_error_no_memory;
	strings->all.items[strings->all.count++] = steal(copy);
	*ret = number;
	return NULL;
}

struct imp_error *strings_keep(struct strings *strings, const char *text, const char **ret)
{
	uint32_t number;
	struct imp_error *err = strings_intern(strings, text, strlen(text), &number);
	if (!err)
		*ret = strings_at(strings, number);
	return err;
}
