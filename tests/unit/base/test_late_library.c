// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "base/late_library.h"

#include <stdio.h>
#include <string.h>

#include "harness/tap.h"

static double (*found_cosine)(double);
static int (*found_nothing)(void);
static const struct late_symbol cosine[] = { { "cos", &found_cosine } };
static const struct late_symbol nothing[] = { { "cos", &found_cosine },
					      { "imprint_has_no_such", &found_nothing } };

TEST(calls_go_to_the_library_once_it_is_loaded)
{
	static struct late_library library = LATE_LIBRARY("libm.so.6", "tests", cosine);
	CHECK_OK(late_library_load(&library));
	CHECK(found_cosine && found_cosine(0) == 1);
	CHECK_OK(late_library_load(&library));
}

TEST(a_missing_library_is_named_with_what_needs_it)
{
	static struct late_library library = LATE_LIBRARY("libimprint-none.so.7", "tests", cosine);
	_cleanup_error_ struct imp_error *err = late_library_load(&library);
	CHECK(err && imp_error_code(err) == IMP_ERR_UNSUPPORTED);
	const char *said = err ? imp_error_message(err) : "";
	CHECK(strstr(said, "libimprint-none.so.7, which is needed for tests, cannot be loaded"));
	// The next who asks is told the same.
	_cleanup_error_ struct imp_error *again = late_library_load(&library);
	CHECK(again);
}

TEST(a_library_without_a_function_in_use_is_not_taken)
{
	static struct late_library library = LATE_LIBRARY("libm.so.6", "tests", nothing);
	_cleanup_error_ struct imp_error *err = late_library_load(&library);
	CHECK(err && strstr(imp_error_message(err), "imprint_has_no_such"));
	CHECK(!library.is_loaded);
}

static bool has_mapped(const char *name)
{
	char line[4096];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps))
		found |= strstr(line, name) != NULL;
	if (maps)
		(void)fclose(maps);
	return found;
}

TEST(starting_loads_none_of_them)
{
	CHECK(has_mapped("libc.so"));
	CHECK(!has_mapped("libcurl") && !has_mapped("libpq.") && !has_mapped("libsqlite3"));
	CHECK(!has_mapped("libpfm") && !has_mapped("libtracefs") && !has_mapped("libarchive"));
}
