// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names of files in perf's cache.
#include <string.h>

#include "archive/perf_cache.h"
#include "harness/tap.h"

static void check_parsed(const char *name, const char *path, const char *id, enum store_role role)
{
	static struct perf_cached cached;
	REQUIRE(perf_cached_parse(name, &cached));
	CHECK_TEXT(cached.path, path);
	CHECK_TEXT(build_id_text(&cached.id).text, id);
	CHECK_UINT(cached.role, role);
}

TEST(a_name_tells_path_id_and_role)
{
	check_parsed("usr/bin/ls/0102aabb/elf", "/usr/bin/ls", "0102aabb", STORE_EXECUTABLE);
	check_parsed("/usr/bin/ls/0102aabb/debug", "/usr/bin/ls", "0102aabb", STORE_DEBUG);
	check_parsed("./usr/bin/ls/0102aabb/elf", "/usr/bin/ls", "0102aabb", STORE_EXECUTABLE);
	check_parsed("[vdso]/0102aabb/vdso", "[vdso]", "0102aabb", STORE_VDSO);
	check_parsed("[kernel.kallsyms]/0102aabb/kallsyms", "[kernel.kallsyms]", "0102aabb",
		     STORE_KALLSYMS);
}

TEST(the_file_itself_stood_under_the_id_before_perf_4_11)
{
	check_parsed("usr/bin/ls/0102aabb", "/usr/bin/ls", "0102aabb", STORE_EXECUTABLE);
}

TEST(a_program_that_is_called_elf_is_one)
{
	check_parsed("opt/elf/0102aabb/elf", "/opt/elf", "0102aabb", STORE_EXECUTABLE);
}

TEST(other_names_are_not_files_of_the_cache)
{
	static const char *const names[] = {
		"",
		"elf",
		"/elf",
		"0102aabb/elf",
		"usr/bin/ls/elf",
		"usr/bin",
		"a/xyz/elf",
		"a/0102aabb/probes",
		"a/0102aabb/elf/",
		"a/102aabb/elf",
	};
	static struct perf_cached cached;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(!perf_cached_parse(names[i], &cached));
	char name[3 * PERF_CACHE_PATH_SIZE];
	memset(name, 'a', sizeof name);
	memcpy(name + sizeof name - 14, "/0102aabb/elf", 14);
	CHECK(!perf_cached_parse(name, &cached));
}
