// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Growing arrays: {items, count, room} of any type, doubled when full, sums checked.
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// An array type: struct { TYPE *items; size_t count, room; }. Zero-initialised is empty.
#define ARRAY_OF(type)        \
	struct {              \
		type *items;  \
		size_t count; \
		size_t room;  \
	}

// Makes room for MORE further items of ITEM_SIZE bytes. False when memory ran out; nothing changed
// then.
bool array_grow(void **items, size_t count, size_t *room, size_t more, size_t item_size)
	__attribute__((warn_unused_result));

// Makes room in ARRAY for MORE further items.
#define array_reserve(array, more)                                                   \
	array_grow((void **)&(array)->items, (array)->count, &(array)->room, (more), \
		   sizeof *(array)->items)

// As array_add(), for items of ITEM_SIZE bytes.
static inline void *array_push(void **items, size_t *count, size_t *room, size_t item_size)
{
	if (*count == *room && !array_grow(items, *count, room, 1, item_size))
		return NULL;
	void *added = (char *)*items + *count * item_size;
	++*count;
	return memset(added, 0, item_size);
}

// A pointer to a new zeroed last item, or NULL when memory ran out.
#define array_add(array)                                                                   \
	((__typeof__((array)->items))array_push((void **)&(array)->items, &(array)->count, \
						&(array)->room, sizeof *(array)->items))

// Frees the items (not what they own) and leaves an empty array.
#define array_fini(array)              \
	do {                           \
		free((array)->items);  \
		(array)->items = NULL; \
		(array)->count = 0;    \
		(array)->room = 0;     \
	} while (0)

#endif
