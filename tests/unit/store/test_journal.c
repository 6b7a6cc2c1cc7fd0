// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The journal of an entry.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"
#include "store/journal.h"
#include "unit/store/scratch.h"

static int open_dir(const struct scratch *scratch)
{
	return open(scratch->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void append(int dir, int64_t time, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct journal_line line = { .kind = 's', .time_s = time, .path = copy };
	line.stamp = (struct file_stamp){ 1, 2, 3, -4, 5 };
	memset(line.hash.bytes, 7, sizeof line.hash.bytes);
	CHECK_OK(journal_append(dir, dir, &line));
}

TEST(lines_come_back_in_order_with_any_path)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_close_ int dir = open_dir(&scratch);
	append(dir, 1, "/plain/path");
	append(dir, 2, "/with space\nand %41 newline \xff");
	append(dir, 3, "-");
	_cleanup_journal_ struct journal journal = { 0 };
	REQUIRE_OK(journal_read(dir, &journal));
	REQUIRE(journal.count == 3);
	CHECK_TEXT(journal.items[0].path, "/plain/path");
	CHECK_TEXT(journal.items[1].path, "/with space\nand %41 newline \xff");
	CHECK_TEXT(journal.items[2].path, "-");
	CHECK(journal.items[1].stamp.mtime_ns == -4 && journal.items[1].stamp.size == 3);
	CHECK_UINT(journal.items[2].time_s, 3);
}

TEST(a_line_cut_short_is_skipped_and_swallows_no_other)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_close_ int dir = open_dir(&scratch);
	append(dir, 1, "/first");
	const char *path = scratch_path(&scratch, "journal");
	struct stat whole;
	REQUIRE(!stat(path, &whole));
	for (off_t size = 0; size < whole.st_size; size++) {
		REQUIRE(!unlink(path));
		append(dir, 1, "/first");
		REQUIRE(!truncate(path, size));
		append(dir, 2, "/second");
		_cleanup_journal_ struct journal journal = { 0 };
		REQUIRE_OK(journal_read(dir, &journal));
		// Without its newline alone, the line is whole again once another follows.
		bool survives = size == whole.st_size - 1;
		REQUIRE(journal.count == (survives ? 2u : 1u));
		CHECK_TEXT(journal.items[journal.count - 1].path, "/second");
	}
}

TEST(a_changed_byte_voids_its_line_only)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_close_ int dir = open_dir(&scratch);
	append(dir, 1, "/first");
	append(dir, 2, "/second");
	FILE *file = fopen(scratch_path(&scratch, "journal"), "r+");
	REQUIRE(file);
	(void)fseek(file, 2, SEEK_SET);
	(void)fputc('9', file);
	(void)fclose(file);
	_cleanup_journal_ struct journal journal = { 0 };
	REQUIRE_OK(journal_read(dir, &journal));
	REQUIRE(journal.count == 1);
	CHECK_TEXT(journal.items[0].path, "/second");
}

TEST(a_long_journal_is_shortened_to_its_newest_lines)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_close_ int dir = open_dir(&scratch);
	char path[32];
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(path, sizeof path, "/path/%d", i);
		append(dir, i, path);
	}
	struct stat now;
	REQUIRE(!stat(scratch_path(&scratch, "journal"), &now));
	CHECK(now.st_size < 80 * 1024);
	_cleanup_journal_ struct journal journal = { 0 };
	REQUIRE_OK(journal_read(dir, &journal));
	REQUIRE(journal.count > 1);
	CHECK_TEXT(journal.items[journal.count - 1].path, "/path/999");
	for (size_t i = 1; i < journal.count; i++)
		CHECK(journal.items[i - 1].time_s < journal.items[i].time_s);
}
