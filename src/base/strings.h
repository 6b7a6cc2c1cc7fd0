// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A pool of strings, each kept once and known by a small number.
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include "base/array.h"
#include "base/error.h"
#include "base/table.h"

// Zero-initialised is empty. Numbers run from 0 in the order of first sight.
struct strings {
	struct table table;
	ARRAY_OF(char *) all;
};

void strings_fini(struct strings *strings);

// The number of the LENGTH bytes of TEXT, up to a NUL among them, which are copied at first sight.
struct imp_error *strings_intern(struct strings *strings, const char *text, size_t length,
				 uint32_t *ret) MUST_CHECK;

// As strings_intern(), for a NUL-terminated TEXT: the pool's copy. Equal texts have equal
// addresses.
struct imp_error *strings_keep(struct strings *strings, const char *text,
			       const char **ret) MUST_CHECK;

// The string of NUMBER, lent by the pool and stable until strings_fini().
static inline const char *strings_at(const struct strings *strings, uint32_t number)
{
	return strings->all.items[number];
}

#endif
