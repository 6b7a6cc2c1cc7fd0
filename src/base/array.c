// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// How growing arrays grow.
#include "base/array.h"

#include <stdlib.h>

#include "base/memory.h"

bool array_grow(void **items, size_t count, size_t *room, size_t more, size_t item_size)
{
	size_t need, bytes;
	if (__builtin_add_overflow(count, more, &need))
		return false;
	if (need <= *room)
		return true;
	size_t wanted = *room > (size_t)-1 / 2 ? need : *room * 2;
	if (wanted < need)
		wanted = need;
	if (wanted < 8)
		wanted = 8;
	if (__builtin_mul_overflow(wanted, item_size, &bytes))
		return false;
	void *grown = realloc(*items, bytes);
	if (!grown)
		return false;
	memory_is_big(grown, bytes);
	*items = grown;
	*room = wanted;
	return true;
}
