// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking, collecting, pinning, removing, verifying.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/tap.h"
#include "unit/store/scratch.h"

// Adds ten bytes under HEX, last used at USED_S.
static void add_used(struct scratch *scratch, const char *hex, int64_t used_s)
{
	char text[16];
	(void)snprintf(text, sizeof text, "%-10.10s", hex);
	struct store_item item = { .id = id_of(hex), .path = "/bin/program" };
	CHECK_OK(store_add_memory(scratch->store, &item, text, 10, NULL));
	char entry[128];
	(void)snprintf(entry, sizeof entry, "store/.build-id/%.2s/%s", hex, hex + 2);
	const struct timespec times[2] = { { .tv_sec = used_s }, { .tv_sec = used_s } };
	CHECK(!utimensat(AT_FDCWD, scratch_path(scratch, entry), times, 0));
}

static struct imp_error *append_name(void *arg, const struct store_entry *entry)
{
	char *names = arg;
	(void)snprintf(names + strlen(names), 200 - strlen(names), "%.4s%s ", entry->name,
		       entry->is_pinned ? "!" : "");
	return NULL;
}

static const char *names_in(struct scratch *scratch)
{
	static char names[200];
	names[0] = 0;
	CHECK_OK(store_walk(scratch->store, append_name, names));
	return names;
}

TEST(entries_are_visited_in_order)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "cc01", 1);
	add_used(&scratch, "aa02", 1);
	add_used(&scratch, "aa01", 1);
	CHECK_TEXT(names_in(&scratch), "aa01 aa02 cc01 ");
}

TEST(the_least_recently_used_goes_first)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 3000);
	add_used(&scratch, "bb01", 1000);
	add_used(&scratch, "cc01", 2000);
	struct store_gc_options options = { .most_bytes = 20 };
	struct store_gc_counts counts;
	REQUIRE_OK(store_gc(scratch.store, &options, &counts));
	CHECK_UINT(counts.gone, 1);
	CHECK_UINT(counts.gone_bytes, 10);
	CHECK_UINT(counts.kept_bytes, 20);
	CHECK_TEXT(names_in(&scratch), "aa01 cc01 ");
	CHECK(!scratch_has(&scratch, "store/.build-id/bb"));
	CHECK(!scratch_has(&scratch, "store/executables/.build-id/bb"));
	CHECK(scratch_has(&scratch, "store/executables/.build-id/cc/01"));
}

TEST(age_collects_and_pins_and_recordings_protect)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 1000);
	add_used(&scratch, "bb01", 1000);
	add_used(&scratch, "cc01", 1000);
	add_used(&scratch, "dd01", 2000);
	bool found = false;
	struct build_id pinned = id_of("aa01");
	REQUIRE_OK(store_pin(scratch.store, &pinned, true, &found));
	CHECK(found);
	struct build_id keep = id_of("bb01");
	struct store_gc_options options = {
		.used_since_s = 1500, .keep = &keep, .keep_count = 1, .is_dry = true
	};
	struct store_gc_counts counts;
	REQUIRE_OK(store_gc(scratch.store, &options, &counts));
	CHECK_UINT(counts.gone, 1);
	CHECK_TEXT(names_in(&scratch), "aa01! bb01 cc01 dd01 ");
	options.is_dry = false;
	REQUIRE_OK(store_gc(scratch.store, &options, &counts));
	CHECK_TEXT(names_in(&scratch), "aa01! bb01 dd01 ");
	REQUIRE_OK(store_pin(scratch.store, &pinned, false, &found));
	REQUIRE_OK(store_gc(scratch.store, &options, &counts));
	CHECK_TEXT(names_in(&scratch), "bb01 dd01 ");
}

TEST(an_empty_store_leaves_no_empty_trees)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 1000);
	bool found = false;
	struct build_id id = id_of("aa01");
	REQUIRE_OK(store_remove(scratch.store, &id, NULL, &found));
	CHECK(found);
	REQUIRE_OK(store_remove(scratch.store, &id, NULL, &found));
	CHECK(!found);
	CHECK(!scratch_has(&scratch, "store/.build-id"));
	CHECK(!scratch_has(&scratch, "store/executables"));
	CHECK_TEXT(names_in(&scratch), "");
}

TEST(verify_sets_damage_aside_and_accepts_the_rest)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 1);
	add_used(&scratch, "bb01", 1);
	struct store_verify_options options = { .workers = 2 };
	struct store_verify_counts counts = { 0 };
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.objects, 2);
	CHECK_UINT(counts.bytes, 20);
	CHECK_UINT(counts.damaged + counts.names + counts.leftovers, 0);
	const char *object = scratch_path(&scratch, "store/.build-id/aa/01/elf");
	REQUIRE(!chmod(object, 0600) && !truncate(object, 5));
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.damaged, 1);
	CHECK_TEXT(names_in(&scratch), "bb01 ");
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.damaged, 0);
	CHECK_UINT(counts.objects, 1);
}

static bool is_never_right(void *arg, const struct store_object *object, int fd)
{
	(void)arg;
	(void)object;
	(void)fd;
	return false;
}

TEST(verify_asks_whether_the_build_is_right)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 1);
	struct store_verify_options options = { .is_right = is_never_right };
	struct store_verify_counts counts = { 0 };
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.damaged, 1);
}

TEST(verify_puts_right_what_a_dead_writer_left)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_used(&scratch, "aa01", 1);
	scratch_write(&scratch, "store/.imprint/tmp/0123456789abcdef", "half");
	REQUIRE(!unlink(scratch_path(&scratch, "store/.build-id/aa/01/elf")));
	REQUIRE(!unlink(scratch_path(&scratch, "store/executables/.build-id/aa/01")));
	scratch_write(&scratch, "store/.build-id/aa/ff.debug", "of an entry that is gone");
	scratch_write(&scratch, "store/.build-id/aa/01.debug", "not of this entry");
	struct store_verify_options options = { .workers = 1 };
	struct store_verify_counts counts = { 0 };
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.damaged, 0);
	CHECK_UINT(counts.leftovers, 1);
	CHECK_TEXT(scratch_read(&scratch, "store/.build-id/aa/01/elf"), "aa01      ");
	CHECK_TEXT(scratch_read(&scratch, "store/executables/.build-id/aa/01"), "aa01      ");
	CHECK(!scratch_has(&scratch, "store/.build-id/aa/ff.debug"));
	CHECK(!scratch_has(&scratch, "store/.build-id/aa/01.debug"));
	struct build_id id = id_of("aa01");
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_all(scratch.store, &id, &found));
	CHECK_UINT(found.count, 1);
}

TEST(a_living_writers_file_is_no_leftover)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	scratch_write(&scratch, "store/.imprint/tmp/0123456789abcdef", "half");
	_cleanup_store_ struct store *other = NULL;
	REQUIRE_OK(store_open(scratch_path(&scratch, "store"), STORE_WRITE, NULL, &other));
	struct store_verify_options options = { .workers = 1 };
	struct store_verify_counts counts = { 0 };
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.leftovers, 0);
	store_free(other);
	other = NULL;
	REQUIRE_OK(store_verify(scratch.store, &options, &counts));
	CHECK_UINT(counts.leftovers, 1);
}

struct visited {
	char text[256];
};

static struct imp_error *note_visit(void *arg, const struct store_entry *entry)
{
	struct visited *visited = arg;
	size_t at = strlen(visited->text);
	(void)snprintf(visited->text + at, sizeof visited->text - at, "%s%.6s", at ? " " : "",
		       entry->name);
	return NULL;
}

static void add_at(struct scratch *scratch, const char *id, const char *path)
{
	struct store_item item = { .path = path };
	if (id)
		item.id = id_of(id);
	CHECK_OK(store_add_memory(scratch->store, &item, path, strlen(path), NULL));
}

TEST(a_walk_by_prefix_or_path_visits_what_the_whole_walk_would)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	add_at(&scratch, "abcdef01", "/one");
	add_at(&scratch, "abcd0002", "/two");
	add_at(&scratch, "ab", "/short");
	add_at(&scratch, "cd000003", "/one");
	add_at(&scratch, NULL, "/one");
	struct visited visited = { "" };
	CHECK_OK(store_walk_prefix(scratch.store, "abcd", note_visit, &visited));
	CHECK_TEXT(visited.text, "abcd00 abcdef");
	visited = (struct visited){ "" };
	CHECK_OK(store_walk_prefix(scratch.store, "ab", note_visit, &visited));
	CHECK_TEXT(visited.text, "ab abcd00 abcdef");
	visited = (struct visited){ "" };
	CHECK_OK(store_walk_prefix(scratch.store, "a", note_visit, &visited));
	CHECK_OK(store_walk_prefix(scratch.store, "../..", note_visit, &visited));
	CHECK_OK(store_walk_path(scratch.store, "/none", note_visit, &visited));
	CHECK_TEXT(visited.text, "");
	// The third has the name of its hash.
	CHECK_OK(store_walk_path(scratch.store, "/one", note_visit, &visited));
	struct store_hash hash;
	REQUIRE_OK(store_hash_of_memory("/one", 4, &hash));
	CHECK(strstr(visited.text, "abcdef") && strstr(visited.text, "cd0000"));
	char name[7];
	(void)snprintf(name, sizeof name, "%.6s", store_hash_text(&hash).text);
	CHECK(strstr(visited.text, name) && strlen(visited.text) == 20);
}
