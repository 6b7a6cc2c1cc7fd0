// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The images that a recording names, each once.
#ifndef TIMELINE_IMAGES_H
#define TIMELINE_IMAGES_H

#include "base/strings.h"
#include "model/image.h"

struct image_use {
	struct image image;
	uint64_t mappings;
};

// Zero-initialised is empty.
struct images {
	ARRAY_OF(struct image_use) all;
	struct table by_key;
	// Paths and symbols, to which images point.
	struct strings strings;
};

void images_fini(struct images *images);

// The string of TEXT's first LENGTH bytes in the pool, lent by it.
struct imp_error *images_text(struct images *images, const char *text, size_t length,
			      const char **ret) MUST_CHECK;

// The number of WANTED, which images_intern() adds at first sight; its strings are those of
// images_text(). Two
// are the same image when kind, path, process and the source of their identity are, and their IDs,
// or without a trusted ID their file keys.
bool images_find(const struct images *images, const struct image *wanted, uint32_t *ret);
struct imp_error *images_intern(struct images *images, const struct image *wanted,
				uint32_t *ret) MUST_CHECK;

#endif
