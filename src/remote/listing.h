// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The answer of an object store to "what is there": ListObjectsV2's XML, as far as it matters here.
#ifndef REMOTE_LISTING_H
#define REMOTE_LISTING_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct listed {
	char *key;
	uint64_t size_bytes;
};

struct listing {
	ARRAY_OF(struct listed);
	// Where to go on, for the next question; NULL: that was all.
	char *next;
};

void listing_fini(struct listing *listing);
#define _cleanup_listing_ __attribute__((cleanup(listing_fini)))

// Appends what stands in SIZE bytes of XML (changed meanwhile) to RET, and sets its `next`.
// IMP_ERR_BAD_DATA when it is no such answer or is cut short.
struct imp_error *listing_parse(char *xml, size_t size, struct listing *ret) MUST_CHECK;

#endif
