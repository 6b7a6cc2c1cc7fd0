// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The directories that the environment names.
#include "cli/places.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "harness/tap.h"

static void clear_environment(void)
{
	static const char *const names[] = { "HOME", "IMPRINT_STORE", "XDG_DATA_HOME",
					     "XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

static void check_path(char *path, const char *expected)
{
	CHECK_TEXT(path, expected);
	free(path);
}

TEST(without_a_home_there_are_no_default_directories)
{
	clear_environment();
	CHECK(!places_store());
	CHECK(!places_buildid_dir());
	CHECK(!places_debuginfod_cache());
	CHECK(!places_known_ids());
}

TEST(known_ids_are_kept_in_the_directory_for_caches)
{
	clear_environment();
	setenv("HOME", "/home/a", 1);
	check_path(places_known_ids(), "/home/a/.cache/imprint/known-ids");
	setenv("XDG_CACHE_HOME", "/cache", 1);
	check_path(places_known_ids(), "/cache/imprint/known-ids");
}

TEST(the_store_is_named_by_its_own_variable_first)
{
	clear_environment();
	setenv("HOME", "/home/a", 1);
	check_path(places_store(), "/home/a/.local/share/imprint/store");
	setenv("XDG_DATA_HOME", "/data", 1);
	check_path(places_store(), "/data/imprint/store");
	setenv("IMPRINT_STORE", "/store", 1);
	check_path(places_store(), "/store");
	setenv("IMPRINT_STORE", "", 1);
	check_path(places_store(), "/data/imprint/store");
}

TEST(perf_keeps_its_cache_in_the_home_directory)
{
	clear_environment();
	setenv("HOME", "/home/a", 1);
	check_path(places_buildid_dir(), "/home/a/.debug");
}

TEST(the_old_cache_of_debuginfod_counts_while_it_exists)
{
	clear_environment();
	char home[] = "/tmp/imprint-naming-XXXXXX";
	REQUIRE(mkdtemp(home));
	setenv("HOME", home, 1);
	setenv("XDG_CACHE_HOME", "/cache", 1);
	check_path(places_debuginfod_cache(), "/cache/debuginfod_client");
	_cleanup_free_ char *old = NULL;
	REQUIRE(asprintf(&old, "%s/.debuginfod_client_cache", home) > 0);
	REQUIRE(!mkdir(old, 0700));
	check_path(places_debuginfod_cache(), old);
	setenv("DEBUGINFOD_CACHE_PATH", "/explicit", 1);
	check_path(places_debuginfod_cache(), "/explicit");
	CHECK(!rmdir(old));
	CHECK(!rmdir(home));
}
