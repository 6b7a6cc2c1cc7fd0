// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files known by path and stat alone.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "harness/tap.h"
#include "store/journal.h"
#include "unit/store/scratch.h"

// A file at PATH that was changed long before it is added.
static struct stat old_file(void)
{
	return (struct stat){
		.st_dev = 1, .st_ino = 2, .st_size = 5, .st_mtim = { 100, 7 }, .st_ctim = { 200, 8 }
	};
}

static void add(struct scratch *scratch, const char *path, const struct stat *source)
{
	struct store_item item = { .id = id_of("abcdef"), .path = path, .source = source };
	CHECK_OK(store_add_memory(scratch->store, &item, "bytes", 5, NULL));
}

static bool knows(struct scratch *scratch, const char *path, const struct stat *stat)
{
	_cleanup_(cleanup_store_seen) struct store_seen *seen = NULL;
	CHECK_OK(store_seen_new(scratch->store, &seen));
	return store_seen_knows(seen, path, stat);
}

TEST(a_file_is_known_while_nothing_of_it_changes)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct stat then = old_file();
	CHECK(!knows(&scratch, "/usr/bin/a", &then));
	add(&scratch, "/usr/bin/a", &then);
	CHECK(knows(&scratch, "/usr/bin/a", &then));
	CHECK(!knows(&scratch, "/usr/bin/b", &then));
	CHECK(!knows(&scratch, "/usr/lib/a", &then));
	struct stat now = then;
	now.st_ctim.tv_nsec++;
	CHECK(!knows(&scratch, "/usr/bin/a", &now));
	now = then;
	now.st_ino++;
	CHECK(!knows(&scratch, "/usr/bin/a", &now));
	now = then;
	now.st_size++;
	CHECK(!knows(&scratch, "/usr/bin/a", &now));
	now = then;
	now.st_mtim.tv_sec++;
	CHECK(!knows(&scratch, "/usr/bin/a", &now));
}

TEST(a_file_that_has_just_changed_is_read_again)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct stat then = old_file();
	then.st_ctim.tv_sec = time(NULL);
	add(&scratch, "/usr/bin/a", &then);
	CHECK(!knows(&scratch, "/usr/bin/a", &then));
}

TEST(what_is_taken_out_is_not_known_any_more)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct stat then = old_file();
	add(&scratch, "/usr/bin/a", &then);
	struct build_id id = id_of("abcdef");
	bool found;
	REQUIRE_OK(store_remove(scratch.store, &id, NULL, &found));
	CHECK(!knows(&scratch, "/usr/bin/a", &then));
}

TEST(a_batch_of_many_directories_is_known_file_by_file)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct stat then = old_file();
	struct store_batch *batch;
	REQUIRE_OK(store_batch_new(scratch.store, &batch));
	char path[40];
	char id[16];
	for (unsigned i = 0; i < 500; i++) {
		(void)snprintf(path, sizeof path, "/dir%u/file%u", i % 20, i);
		(void)snprintf(id, sizeof id, "%08x", (i + 1) * 2654435761U);
		struct store_item item = { .id = id_of(id), .path = path, .source = &then };
		CHECK_OK(store_batch_add_memory(batch, &item, path, strlen(path)));
	}
	REQUIRE_OK(store_batch_commit(batch, NULL));
	_cleanup_(cleanup_store_seen) struct store_seen *seen = NULL;
	REQUIRE_OK(store_seen_new(scratch.store, &seen));
	for (unsigned i = 0; i < 500; i++) {
		(void)snprintf(path, sizeof path, "/dir%u/file%u", i % 20, i);
		CHECK(store_seen_knows(seen, path, &then));
		(void)snprintf(path, sizeof path, "/dir%u/file%u", (i + 1) % 20, i);
		CHECK(!store_seen_knows(seen, path, &then));
	}
}
