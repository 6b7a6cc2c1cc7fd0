// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "remote/path_text.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

TEST(a_path_comes_back_as_it_was)
{
	static const char *const paths[] = { "/usr/bin/a", "[vdso]", "/a b%c\n\r\t\x01\x7f\xc3\xa9",
					     "/100%", "/%41" };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		char *text = path_text_write(paths[i]);
		REQUIRE(text);
		for (const char *at = text; *at; at++)
			CHECK(*at > ' ' && *at < 0x7f);
		char *path = path_text_read(text);
		CHECK_TEXT(path, paths[i]);
		free(path);
		free(text);
	}
}

TEST(what_is_no_path_is_none)
{
	CHECK(path_text_read("") == NULL);
	CHECK(path_text_read("relative") == NULL);
	CHECK(path_text_read("%") == NULL);
	char *path = path_text_read("/a%00b%zz%4");
	CHECK_TEXT(path, "/ab%zz%4");
	free(path);
	char longest[4096];
	memset(longest, 'a', sizeof longest - 1);
	longest[0] = '/';
	longest[sizeof longest - 1] = 0;
	CHECK(path_text_write(longest) == NULL);
}
