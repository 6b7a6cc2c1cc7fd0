// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The journal of an entry.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"
#include "store/journal.h"
#include "unit/store/scratch.h"

static void append(struct scratch *scratch, int64_t time, const char *path)
{
	struct build_id id = id_of("abcdef");
	_cleanup_free_ char *copy = strdup(path);
	struct journal_line line = { .kind = 's', .time_s = time, .path = copy };
	line.entry = entry_name_of(&id, NULL);
	line.stamp = (struct file_stamp){ 1, 2, 3, -4, 5 };
	memset(line.hash.bytes, 7, sizeof line.hash.bytes);
	CHECK_OK(journal_append(scratch->store, &line, 1));
}

static void read_all(struct scratch *scratch, struct journal *ret)
{
	struct build_id id = id_of("abcdef");
	struct entry_name name = entry_name_of(&id, NULL);
	CHECK_OK(journal_read_entry(scratch->store, &name, ret));
}

static const char *shard_path(const struct scratch *scratch)
{
	char name[64];
	(void)snprintf(name, sizeof name, "store/.imprint/journal/%s", shard_of("abcdef").text);
	return scratch_path(scratch, name);
}

TEST(lines_come_back_in_order_with_any_path)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	append(&scratch, 1, "/plain/path");
	append(&scratch, 2, "/with space\nand %41 newline \xff");
	append(&scratch, 3, "-");
	_cleanup_journal_ struct journal journal = { 0 };
	read_all(&scratch, &journal);
	REQUIRE(journal.count == 3);
	CHECK_TEXT(journal.items[0].path, "/plain/path");
	CHECK_TEXT(journal.items[1].path, "/with space\nand %41 newline \xff");
	CHECK_TEXT(journal.items[2].path, "-");
	CHECK(journal.items[1].stamp.mtime_ns == -4 && journal.items[1].stamp.size == 3);
	CHECK_UINT(journal.items[2].time_s, 3);
	_cleanup_journal_ struct journal there = { 0 };
	REQUIRE_OK(journal_read_path(scratch.store, "/plain/path", &there));
	REQUIRE(there.count == 1);
	CHECK_TEXT(there.items[0].entry.text, "abcdef");
}

TEST(a_line_cut_short_is_skipped_and_swallows_no_other)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	append(&scratch, 1, "/first");
	const char *path = shard_path(&scratch);
	struct stat whole;
	REQUIRE(!stat(path, &whole));
	for (off_t size = 0; size < whole.st_size; size++) {
		REQUIRE(!unlink(path));
		append(&scratch, 1, "/first");
		REQUIRE(!truncate(path, size));
		append(&scratch, 2, "/second");
		_cleanup_journal_ struct journal journal = { 0 };
		read_all(&scratch, &journal);
		// Without its newline alone, the line is whole again once another follows.
		bool survives = size == whole.st_size - 1;
		REQUIRE(journal.count == (survives ? 2u : 1u));
		CHECK_TEXT(journal.items[journal.count - 1].path, "/second");
	}
}

TEST(a_changed_byte_voids_its_line_only)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	append(&scratch, 1, "/first");
	append(&scratch, 2, "/second");
	FILE *file = fopen(shard_path(&scratch), "r+");
	REQUIRE(file);
	(void)fseek(file, 2, SEEK_SET);
	(void)fputc('9', file);
	(void)fclose(file);
	_cleanup_journal_ struct journal journal = { 0 };
	read_all(&scratch, &journal);
	REQUIRE(journal.count == 1);
	CHECK_TEXT(journal.items[0].path, "/second");
}

TEST(a_long_journal_is_shortened_to_its_newest_lines)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("abcdef") };
	REQUIRE_OK(store_add_memory(scratch.store, &item, "x", 1, NULL));
	char path[32];
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(path, sizeof path, "/path/%d", i);
		append(&scratch, i, path);
	}
	struct stat now;
	REQUIRE(!stat(shard_path(&scratch), &now));
	CHECK(now.st_size < 80 * 1024);
	_cleanup_journal_ struct journal journal = { 0 };
	read_all(&scratch, &journal);
	REQUIRE(journal.count > 1);
	CHECK_TEXT(journal.items[journal.count - 1].path, "/path/999");
}

TEST(lines_of_entries_that_are_gone_are_dropped)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	char path[32];
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(path, sizeof path, "/path/%d", i);
		append(&scratch, i, path);
	}
	_cleanup_journal_ struct journal journal = { 0 };
	read_all(&scratch, &journal);
	CHECK(journal.count < 500);
}
