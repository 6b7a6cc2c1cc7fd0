// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Growing arrays: {items, count, room} of any type, doubled when full, sums checked.
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

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

// A pointer to a new zeroed last item, or NULL when memory ran out.
#define array_add(array)                                                           \
	__extension__({                                                            \
		__typeof__((array)->items) array_added = NULL;                     \
		if ((array)->count < (array)->room || array_reserve((array), 1)) { \
			array_added = &(array)->items[(array)->count++];           \
			__builtin_memset(array_added, 0, sizeof *array_added);     \
		}                                                                  \
		array_added;                                                       \
	})

// Frees the items (not what they own) and leaves an empty array.
#define array_fini(array)              \
	do {                           \
		free((array)->items);  \
		(array)->items = NULL; \
		(array)->count = 0;    \
		(array)->room = 0;     \
	} while (0)

#endif
