// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "base/zstd_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/tap.h"

enum { LINES = 20000 };

static bool write_lines(const char *path)
{
	FILE *file = NULL;
	CHECK_OK(zstd_file_create(path, &file));
	if (!file)
		return false;
	for (unsigned i = 0; i < LINES; i++)
		fprintf(file, "line %u\n", i);
	CHECK_OK(zstd_file_close(file, path));
	return tap_passing();
}

static unsigned count_lines(const char *path, bool *has_failed)
{
	FILE *file = NULL;
	CHECK_OK(zstd_file_open(path, &file));
	if (!file)
		return 0;
	char line[64], expected[64];
	unsigned count = 0;
	for (; fgets(line, sizeof line, file); count++) {
		snprintf(expected, sizeof expected, "line %u\n", count);
		if (strcmp(line, expected))
			break;
	}
	*has_failed = ferror(file);
	fclose(file);
	return count;
}

TEST(what_is_written_is_read_compressed_or_not)
{
	static const char *const names[] = { "x", "x.zst" };
	char dir[] = "/tmp/imprint-zstd-XXXXXX";
	REQUIRE(mkdtemp(dir));
	off_t sizes[2];
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		REQUIRE(write_lines(path));
		bool has_failed;
		CHECK_UINT(count_lines(path, &has_failed), LINES);
		CHECK(!has_failed);
		struct stat stat_of;
		CHECK(!stat(path, &stat_of));
		sizes[i] = stat_of.st_size;
		unlink(path);
	}
	CHECK(sizes[1] < sizes[0] / 2);
	rmdir(dir);
}

TEST(a_compressed_file_that_was_cut_is_an_error)
{
	char path[] = "/tmp/imprint-zstd-XXXXXX.zst";
	int fd = mkstemps(path, 4);
	REQUIRE(fd >= 0);
	close(fd);
	REQUIRE(write_lines(path));
	struct stat stat_of;
	CHECK(!stat(path, &stat_of));
	CHECK(!truncate(path, stat_of.st_size - 5));
	bool has_failed = false;
	count_lines(path, &has_failed);
	CHECK(has_failed);
	unlink(path);
}
