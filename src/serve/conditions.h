// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// On what terms a client wants an answer: the parts of RFC 9110 about ranges and entity tags.
#ifndef SERVE_CONDITIONS_H
#define SERVE_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

enum range {
	// No range, several of them, or nothing that is one: the whole is the answer.
	RANGE_WHOLE,
	RANGE_PART,
	// Nothing of it is there: 416.
	RANGE_OUTSIDE
};

// Reads a Range HEADER (NULL: none) over SIZE bytes. *first and *count are set for RANGE_PART:
// bytes *first to *first + *count, not none.
enum range range_parse(const char *header, uint64_t size, uint64_t *first, uint64_t *count);

// Whether an If-None-Match, If-Match or If-Range HEADER names TAG (with its quotes), or is "*". A
// tag that the client calls weak counts when IS_WEAK_ENOUGH.
bool tag_is_listed(const char *header, const char *tag, bool is_weak_enough);

// How many hops an X-Forwarded-For HEADER (NULL: none) tells.
unsigned forwarded_hops(const char *header);

// A decimal number of at most 19 digits, and nothing else.
bool decimal_parse(const char *text, uint64_t *ret);

#endif
