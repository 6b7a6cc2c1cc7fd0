// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Adding objects and finding them again.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/tap.h"
#include "unit/store/scratch.h"

static struct store_added add_text(struct scratch *scratch, const struct store_item *item,
				   const char *text)
{
	struct store_added added = { 0 };
	CHECK_OK(store_add_memory(scratch->store, item, text, strlen(text), &added));
	return added;
}

static void check_first(struct scratch *scratch, const struct store_query *query,
			const char *expected)
{
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find(scratch->store, query, &found));
	REQUIRE(found.count > 0);
	_cleanup_close_ int fd = -1;
	REQUIRE_OK(store_object_open(scratch->store, &found.items[0], &fd));
	char text[64] = { 0 };
	CHECK(read(fd, text, sizeof text - 1) >= 0);
	CHECK_TEXT(text, expected);
}

TEST(a_file_is_found_by_its_id)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	scratch_write(&scratch, "program", "the bytes");
	struct store_item item = { .id = id_of("abcdef012345"), .path = "/usr/bin/program" };
	struct store_added added;
	REQUIRE_OK(store_add_file(scratch.store, &item, scratch_path(&scratch, "program"), &added));
	CHECK(added.is_new && !added.is_collision);
	CHECK_UINT(added.size_bytes, 9);
	CHECK_TEXT(store_hash_text(&added.hash).text,
		   "ed589341c9fd5da96aaff4c5efa008226282a716186608d5a032ac75895a9c2f");
	struct store_query query = { .id = item.id };
	check_first(&scratch, &query, "the bytes");
	query.id = id_of("abcdef012346");
	_cleanup_store_objects_ struct store_objects none = { 0 };
	CHECK_OK(store_find(scratch.store, &query, &none));
	CHECK_UINT(none.count, 0);
}

TEST(the_tree_serves_other_tools)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("abcdef012345"),
				   .rank = STORE_SYMTAB,
				   .path = "/usr/bin/program" };
	add_text(&scratch, &item, "program");
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/ab/cdef012345/elf"), "program");
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/ab/cdef012345.debug"), "program");
	CHECK_TEXT(scratch_read(&scratch, "store/executables/.build-id/ab/cdef012345"), "program");
	item.role = STORE_DEBUG;
	item.rank = STORE_DWARF;
	item.path = "/usr/lib/debug/program.debug";
	add_text(&scratch, &item, "debug");
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/ab/cdef012345/debug"), "debug");
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/ab/cdef012345.debug"), "debug");
	CHECK_TEXT(scratch_read(&scratch, "store/executables/.build-id/ab/cdef012345"), "program");
}

TEST(a_stripped_file_does_not_pass_for_debug_information)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("abcdef012345"), .path = "/usr/bin/program" };
	add_text(&scratch, &item, "stripped");
	CHECK(!scratch_has(&scratch, "store/.build-id/ab/cdef012345.debug"));
	CHECK(scratch_has(&scratch, "store/.build-id/ab/cdef012345/elf"));
	struct store_query query = { .id = item.id, .role = STORE_DEBUG };
	_cleanup_store_objects_ struct store_objects found = { 0 };
	CHECK_OK(store_find(scratch.store, &query, &found));
	CHECK_UINT(found.count, 0);
}

TEST(the_better_comes_first_and_nothing_is_lost)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("aabbccddeeff") };
	static const struct {
		enum store_rank rank;
		const char *text;
	} rows[] = { { STORE_DWARF, "dwarf" },
		     { STORE_STRIPPED, "stripped" },
		     { STORE_SYMTAB, "symtab" },
		     { STORE_MINI, "mini" } };
	for (size_t i = 0; i < 4; i++) {
		item.rank = rows[i].rank;
		CHECK(!add_text(&scratch, &item, rows[i].text).is_collision);
	}
	struct store_query query = { .id = item.id };
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find(scratch.store, &query, &found));
	REQUIRE(found.count == 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_UINT(found.items[i].rank, STORE_DWARF - i);
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/aa/bbccddeeff/elf"), "dwarf");
}

TEST(each_content_is_kept_once)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("aabbccddeeff"), .path = "/a" };
	CHECK(add_text(&scratch, &item, "bytes").is_new);
	item.path = "/b";
	CHECK(!add_text(&scratch, &item, "bytes").is_new);
	item.rank = STORE_DWARF;
	CHECK(!add_text(&scratch, &item, "bytes").is_new);
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_all(scratch.store, &item.id, &found));
	REQUIRE(found.count == 1);
	CHECK_UINT(found.items[0].rank, STORE_DWARF);
	_cleanup_store_sights_ struct store_sights sights = { 0 };
	REQUIRE_OK(store_sights(scratch.store, &item.id, NULL, &sights));
	REQUIRE(sights.count == 3);
	CHECK_TEXT(sights.items[0].path, "/a");
	CHECK_TEXT(sights.items[1].path, "/b");
}

TEST(two_programs_with_one_id_are_told_apart_by_path)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("deadbeef00112233"),
				   .rank = STORE_SYMTAB,
				   .path = "/bin/one" };
	CHECK(!add_text(&scratch, &item, "one").is_collision);
	item.path = "/bin/two";
	CHECK(add_text(&scratch, &item, "two").is_collision);
	struct store_query query = { .id = item.id, .path = "/bin/one" };
	check_first(&scratch, &query, "one");
	query.path = "/bin/two";
	check_first(&scratch, &query, "two");
	query.role = STORE_DEBUG;
	check_first(&scratch, &query, "two");
	query.path = "/bin/one";
	check_first(&scratch, &query, "one");
}

TEST(an_image_without_an_id_stands_under_its_hash)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .path = "/bin/anonymous" };
	struct store_added added = add_text(&scratch, &item, "no id");
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_hash(scratch.store, &added.hash, &found));
	REQUIRE(found.count == 1);
	CHECK(build_id_is_none(&found.items[0].id));
	struct build_id id = build_id_of(added.hash.bytes, sizeof added.hash.bytes);
	struct store_query query = { .id = id };
	_cleanup_store_objects_ struct store_objects none = { 0 };
	CHECK_OK(store_find(scratch.store, &query, &none));
	CHECK_UINT(none.count, 0);
}

TEST(ids_of_one_to_sixty_four_bytes)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	for (uint32_t size = 1; size <= BUILD_ID_MOST_BYTES; size++) {
		uint8_t bytes[BUILD_ID_MOST_BYTES];
		memset(bytes, (int)size, sizeof bytes);
		struct store_item item = { .id = build_id_of(bytes, size), .path = "/bin/x" };
		char text[16];
		(void)snprintf(text, sizeof text, "%u", size);
		add_text(&scratch, &item, text);
		struct store_query query = { .id = item.id };
		check_first(&scratch, &query, text);
	}
}

TEST(a_file_added_before_is_known_until_it_changes)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	scratch_write(&scratch, "program", "bytes");
	const char *path = scratch_path(&scratch, "program");
	struct store_item item = { .id = id_of("abcdef"), .path = path };
	struct stat before;
	REQUIRE(!stat(path, &before));
	CHECK(!store_knows_file(scratch.store, &item, &before));
	REQUIRE_OK(store_add_file(scratch.store, &item, path, NULL));
	CHECK(store_knows_file(scratch.store, &item, &before));
	scratch_write(&scratch, "program", "other");
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	REQUIRE(!utimensat(AT_FDCWD, path, times, 0));
	struct stat after;
	REQUIRE(!stat(path, &after));
	CHECK(!store_knows_file(scratch.store, &item, &after));
}

TEST(damage_is_found_on_the_first_read_and_set_aside)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("abcdef0123"), .path = "/bin/x" };
	add_text(&scratch, &item, "good bytes");
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_all(scratch.store, &item.id, &found));
	REQUIRE(found.count == 1);
	_cleanup_free_ char *path = store_object_path(scratch.store, &found.items[0]);
	REQUIRE(path && !chmod(path, 0600));
	FILE *file = fopen(path, "r+");
	REQUIRE(file);
	(void)fputc('B', file);
	(void)fclose(file);
	_cleanup_close_ int fd = -1;
	CHECK_ERROR(store_object_open(scratch.store, &found.items[0], &fd), IMP_ERR_BAD_DATA);
	_cleanup_store_objects_ struct store_objects left = { 0 };
	CHECK_OK(store_find_all(scratch.store, &item.id, &left));
	CHECK_UINT(left.count, 0);
	CHECK(!scratch_has(&scratch, "store/executables/.build-id/ab/cdef0123"));
	CHECK(!scratch_has(&scratch, "store/.build-id/ab/cdef0123/elf"));
	CHECK(add_text(&scratch, &item, "good bytes").is_new);
	struct store_query query = { .id = item.id };
	check_first(&scratch, &query, "good bytes");
}

TEST(paths_are_kept_whatever_their_bytes_and_touch_nothing)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	static const char *const paths[] = { "/../outside/x", "/.imprint/version", "relative/x",
					     "/a\nb \xff%",   "/.build-id/ab/cd",  "-" };
	struct store_item item = { .id = id_of("abcdef0123") };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		item.path = paths[i];
		add_text(&scratch, &item, "bytes");
	}
	CHECK(!scratch_has(&scratch, "outside"));
	_cleanup_store_sights_ struct store_sights sights = { 0 };
	REQUIRE_OK(store_sights(scratch.store, &item.id, NULL, &sights));
	REQUIRE(sights.count == sizeof paths / sizeof *paths);
	for (size_t i = 0; i < sights.count; i++)
		CHECK_TEXT(sights.items[i].path, paths[i]);
}

TEST(a_link_in_the_way_is_never_written_through)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	REQUIRE(!mkdir(scratch_path(&scratch, "outside"), 0700));
	REQUIRE(!mkdir(scratch_path(&scratch, "store/.build-id"), 0700));
	// perf's own way to lay out its cache, and a trap one step above.
	REQUIRE(!mkdir(scratch_path(&scratch, "store/.build-id/ab"), 0700));
	REQUIRE(!symlink("../../../outside", scratch_path(&scratch, "store/.build-id/ab/cdef")));
	REQUIRE(!symlink("../../outside", scratch_path(&scratch, "store/.build-id/cd")));
	struct store_item item = { .id = id_of("abcdef") };
	add_text(&scratch, &item, "bytes");
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/ab/cdef/elf"), "bytes");
	item.id = id_of("cdef01");
	CHECK_ERROR(store_add_memory(scratch.store, &item, "x", 1, NULL), IMP_ERR_SYSTEM);
	CHECK(!rmdir(scratch_path(&scratch, "outside")));
}

TEST(a_batch_shows_nothing_before_its_commit)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_batch *batch;
	REQUIRE_OK(store_batch_new(scratch.store, &batch));
	for (int i = 0; i < 20; i++) {
		char text[32];
		(void)snprintf(text, sizeof text, "file %d", i % 10);
		scratch_write(&scratch, "file", text);
		uint8_t byte = (uint8_t)(i % 10 + 1);
		struct store_item item = { .id = build_id_of(&byte, 1), .path = "/bin/file" };
		_cleanup_close_ int fd = open(scratch_path(&scratch, "file"), O_RDONLY | O_CLOEXEC);
		CHECK_OK(store_batch_add_fd(batch, &item, fd));
	}
	struct store_query query = { .id = id_of("01") };
	_cleanup_store_objects_ struct store_objects found = { 0 };
	CHECK_OK(store_find(scratch.store, &query, &found));
	CHECK_UINT(found.count, 0);
	struct store_batch_counts counts;
	REQUIRE_OK(store_batch_commit(batch, &counts));
	CHECK_UINT(counts.added, 10);
	CHECK_UINT(counts.known, 10);
	check_first(&scratch, &query, "file 0");
}

TEST(prefixes_and_paths_lead_to_ids)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	static const char *const ids[] = { "abcdef01", "abcdef02", "abff0000" };
	for (size_t i = 0; i < 3; i++) {
		struct store_item item = { .id = id_of(ids[i]), .path = "/bin/x" };
		add_text(&scratch, &item, ids[i]);
	}
	_cleanup_store_ids_ struct store_ids found = { 0 };
	CHECK_OK(store_complete(scratch.store, "ABCDEF", &found));
	CHECK_UINT(found.count, 2);
	CHECK_OK(store_complete(scratch.store, "abff", &found));
	REQUIRE(found.count == 3);
	CHECK_TEXT(build_id_text(&found.items[2]).text, "abff0000");
	CHECK_OK(store_complete(scratch.store, "../../", &found));
	CHECK_UINT(found.count, 3);
	_cleanup_store_ids_ struct store_ids at = { 0 };
	CHECK_OK(store_ids_at(scratch.store, "/bin/x", &at));
	CHECK_UINT(at.count, 3);
}

TEST(no_store_is_an_answer_when_reading)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_store_ struct store *none = NULL;
	CHECK_OK(store_open(scratch_path(&scratch, "nowhere"), STORE_READ, NULL, &none));
	CHECK(!none);
	CHECK_OK(store_open(scratch_path(&scratch, "store"), STORE_READ, NULL, &none));
	CHECK(none);
	struct store_item item = { .id = id_of("abcdef") };
	CHECK_ERROR(store_add_memory(none, &item, "x", 1, NULL), IMP_ERR_USAGE);
}

TEST(a_store_of_another_version_is_refused)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	scratch_write(&scratch, "store/.imprint/version", "imprint store 2\n");
	_cleanup_store_ struct store *store = NULL;
	CHECK_ERROR(store_open(scratch_path(&scratch, "store"), STORE_WRITE, NULL, &store),
		    IMP_ERR_UNSUPPORTED);
}

TEST(what_the_kernel_tells_of_itself_is_for_the_owner_only)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_item item = { .id = id_of("abcdef0123"),
				   .role = STORE_KALLSYMS,
				   .path = "[kernel.kallsyms]" };
	add_text(&scratch, &item, "ffffffff81000000 T _text\n");
	struct stat seen;
	REQUIRE(!stat(scratch_path(&scratch, "store/.build-id/ab/cdef0123/kallsyms"), &seen));
	CHECK_UINT(seen.st_mode & 0777, 0400);
}
