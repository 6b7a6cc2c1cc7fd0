// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What an object store says it has.
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "remote/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);
	struct listing listing = { 0 };
	FUZZ_CHECK(text);
	memcpy(text, bytes, size);
	struct imp_error *err = listing_parse(text, size, &listing);
	for (size_t i = 0; i < listing.count; i++)
		FUZZ_CHECK(listing.items[i].key[0] && !strpbrk(listing.items[i].key, " <>%\n\\"));
	FUZZ_CHECK(!err || !listing.next);
	imp_error_free(err);
	listing_fini(&listing);
	free(text);
	return 0;
}
