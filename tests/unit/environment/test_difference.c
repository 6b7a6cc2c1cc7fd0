// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/difference.h"

#include <string.h>

#include "harness/tap.h"

// A process of PROGRAM that maps a file at PATH with the build of byte ID (0: not known).
static void add(struct snapshot *snapshot, const char *program, const char *path, uint8_t id,
		const char *soname)
{
	struct snapshot_process *process = snapshot_add_process(snapshot);
	struct snapshot_image *image = snapshot_add_image(snapshot);
	struct snapshot_mapping *mapping = snapshot_add_mapping(snapshot);
	process->exe = program;
	process->unit = "x.service";
	process->mapping_count = 1;
	image->path = path;
	image->soname = soname;
	uint8_t bytes[4] = { id, id, id, id };
	image->id = build_id_of(bytes, sizeof bytes);
	mapping->image = (uint32_t)(snapshot->images.count - 1);
}

struct pair {
	struct snapshot *before, *after;
};

static struct pair pair_begin(void)
{
	struct pair pair = { 0 };
	CHECK_OK(snapshot_new("live", &pair.before));
	CHECK_OK(snapshot_new("live", &pair.after));
	return pair;
}

// Compares, and frees both: the difference stands on its own.
static void pair_end(struct pair *pair, struct difference *difference)
{
	CHECK_OK(difference_of(pair->before, pair->after, difference));
	snapshot_free(pair->before);
	snapshot_free(pair->after);
}

static const struct difference_row *row_of(const struct difference *difference, const char *path)
{
	for (size_t i = 0; i < difference->rows.count; i++) {
		const struct difference_row *row = &difference->rows.items[i];
		if (!strcmp(row->before.path, path) || !strcmp(row->after.path, path))
			return row;
	}
	return NULL;
}

static void check_row(const struct difference *difference, const char *path, const char *kind,
		      const char *before, const char *after)
{
	const struct difference_row *row = row_of(difference, path);
	CHECK(row != NULL);
	if (!row)
		return;
	CHECK_TEXT(difference_kind_name(row->kind), kind);
	CHECK_TEXT(row->before.builds, before);
	CHECK_TEXT(row->after.builds, after);
}

TEST(paths_are_same_changed_new_gone_or_unknown)
{
	struct pair pair = pair_begin();
	add(pair.before, "/bin/a", "/lib/same", 1, "");
	add(pair.after, "/bin/b", "/lib/same", 1, "");
	add(pair.before, "/bin/a", "/lib/changed", 1, "");
	add(pair.after, "/bin/a", "/lib/changed", 2, "");
	add(pair.before, "/bin/a", "/lib/gone", 1, "");
	add(pair.after, "/bin/a", "/lib/new", 1, "");
	add(pair.before, "/bin/a", "/lib/unknown", 0, "");
	add(pair.after, "/bin/a", "/lib/unknown", 1, "");
	_cleanup_difference_ struct difference difference = { 0 };
	pair_end(&pair, &difference);
	check_row(&difference, "/lib/same", "same", "01010101", "01010101");
	check_row(&difference, "/lib/changed", "changed", "01010101", "02020202");
	check_row(&difference, "/lib/gone", "gone", "01010101", "");
	check_row(&difference, "/lib/new", "new", "", "01010101");
	check_row(&difference, "/lib/unknown", "unknown", "", "01010101");
	CHECK(difference_is_any(&difference));
	CHECK_UINT(difference.counts[DIFFERENCE_CHANGED], 1);
}

TEST(two_builds_at_one_path_are_a_set)
{
	struct pair pair = pair_begin();
	add(pair.before, "/bin/a", "/lib/x", 2, "");
	add(pair.before, "/bin/a", "/lib/x", 1, "");
	add(pair.after, "/bin/a", "/lib/x", 1, "");
	add(pair.after, "/bin/a", "/lib/x", 2, "");
	_cleanup_difference_ struct difference difference = { 0 };
	pair_end(&pair, &difference);
	check_row(&difference, "/lib/x", "same", "01010101, 02020202", "01010101, 02020202");
	CHECK(!difference_is_any(&difference));
	CHECK_UINT(row_of(&difference, "/lib/x")->after.processes, 2);
}

TEST(a_library_that_moved_keeps_its_role)
{
	struct pair pair = pair_begin();
	add(pair.before, "/bin/a", "/lib/libz.so.1.2", 1, "libz.so.1");
	add(pair.after, "/bin/a", "/lib/libz.so.1.3", 2, "libz.so.1");
	_cleanup_difference_ struct difference difference = { 0 };
	pair_end(&pair, &difference);
	CHECK_UINT(difference.rows.count, 1);
	check_row(&difference, "/lib/libz.so.1.2", "changed", "01010101", "02020202");
	CHECK_TEXT(difference.rows.items[0].after.path, "/lib/libz.so.1.3");
}

TEST(the_kernel_and_its_modules_are_compared)
{
	struct pair pair = pair_begin();
	pair.before->kernel_release = "6.1.0-9";
	pair.after->kernel_release = "6.1.0-10";
	struct snapshot_module *module = snapshot_add_module(pair.after);
	module->name = "loop";
	_cleanup_difference_ struct difference difference = { 0 };
	pair_end(&pair, &difference);
	check_row(&difference, "[kernel]", "changed", "", "");
	check_row(&difference, "loop", "new", "", "");
}

TEST(programs_tell_which_of_their_images_differ)
{
	struct pair pair = pair_begin();
	add(pair.before, "/bin/a", "/lib/x", 1, "");
	add(pair.before, "/bin/a", "/lib/y", 1, "");
	add(pair.after, "/bin/a (deleted)", "/lib/x", 2, "");
	add(pair.after, "/bin/a", "/lib/y", 1, "");
	add(pair.after, "/bin/a", "/lib/y", 1, "");
	add(pair.before, "/bin/gone", "/lib/x", 1, "");
	_cleanup_difference_ struct difference difference = { 0 };
	pair_end(&pair, &difference);
	REQUIRE(difference.programs.count == 2);
	const struct program_row *row = &difference.programs.items[0];
	CHECK_TEXT(row->exe, "/bin/a");
	CHECK_TEXT(row->group, "x.service");
	CHECK_TEXT(difference_kind_name(row->kind), "changed");
	CHECK_UINT(row->before, 2);
	CHECK_UINT(row->after, 3);
	CHECK_UINT(row->image_count, 1);
	CHECK_TEXT(difference.program_images.items[row->first_image], "/lib/x");
	CHECK_TEXT(difference_kind_name(difference.programs.items[1].kind), "gone");
}
