// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A pool keeps each text once.
#include "base/strings.h"

#include <string.h>

#include "harness/tap.h"

static uint32_t number_of(struct strings *strings, const char *text, size_t length)
{
	uint32_t number = UINT32_MAX;
	_cleanup_error_ struct imp_error *err = strings_intern(strings, text, length, &number);
	CHECK(!err);
	return number;
}

TEST(equal_texts_have_one_number)
{
	struct strings strings = { 0 };
	CHECK_UINT(number_of(&strings, "libssl", 6), 0);
	CHECK_UINT(number_of(&strings, "libcrypto", 9), 1);
	CHECK_UINT(number_of(&strings, "libssl.so", 6), 0);
	CHECK_UINT(number_of(&strings, "lib", 3), 2);
	CHECK(!strcmp(strings_at(&strings, 1), "libcrypto"));
	strings_fini(&strings);
}

TEST(a_text_ends_at_its_first_nul)
{
	struct strings strings = { 0 };
	CHECK_UINT(number_of(&strings, "AP\0xyz", 6), 0);
	CHECK_UINT(number_of(&strings, "AP", 2), 0);
	CHECK_UINT(number_of(&strings, "AP\0other", 8), 0);
	CHECK_UINT(number_of(&strings, "\0AP", 3), 1);
	CHECK_UINT(strings.all.count, 2);
	strings_fini(&strings);
}
