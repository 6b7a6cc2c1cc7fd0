// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/census.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"

// A host that at SECOND ran /bin/a with a library of the build of byte ID, in two processes.
static struct snapshot *make_snapshot(const char *host, uint64_t second, uint8_t id)
{
	struct snapshot *snapshot = NULL;
	CHECK_OK(snapshot_new("live", &snapshot));
	snapshot->host = snapshot->machine_id = host;
	snapshot->time_ns = second * 1000000000;
	snapshot->kernel_release = "6.1.0";
	struct snapshot_image *image = snapshot_add_image(snapshot);
	image->path = "/srv/lib/libx.so";
	image->soname = "libx.so";
	image->package = "{\"name\":\"x\",\"version\":\"1.0\"}";
	memset(image->id.bytes, id, 4);
	image->id.size = 4;
	for (unsigned i = 0; i < 2; i++) {
		struct snapshot_process *process = snapshot_add_process(snapshot);
		process->exe = "/srv/bin/a";
		process->unit = "a.service";
		process->root = "/srv";
		process->mapping_count = 1;
		*snapshot_add_mapping(snapshot) = (struct snapshot_mapping){ 0x1000, 0x1000, 0, 0 };
	}
	return snapshot;
}

struct bench {
	char path[64];
	struct database *database;
	struct census *census;
};

static struct bench bench_begin(void)
{
	struct bench bench = { .path = "/tmp/imprint-census-XXXXXX" };
	close(mkstemp(bench.path));
	CHECK_OK(database_open(bench.path, DATABASE_WRITE, &bench.database));
	CHECK_OK(census_open(bench.database, &bench.census));
	return bench;
}

static void bench_end(struct bench *bench)
{
	census_close(bench->census);
	database_free(bench->database);
	unlink(bench->path);
}

static void add(struct bench *bench, const char *host, uint64_t second, uint8_t id, bool is_new)
{
	bool was_new = !is_new;
	struct snapshot *snapshot = make_snapshot(host, second, id);
	CHECK_OK(census_add(bench->census, snapshot, &was_new));
	CHECK(was_new == is_new);
	snapshot_free(snapshot);
}

// Rows as text: "a|b\nc|d\n".
static struct imp_error *write_row(void *arg, const struct database_row *row)
{
	struct buffer *text = arg;
	for (size_t i = 0; row->values && i < row->count; i++)
		buffer_format(text, "%s%s", row->values[i] ? row->values[i] : "NULL",
			      i + 1 < row->count ? "|" : "\n");
	return NULL;
}

static void check_rows(struct bench *bench, const char *sql, const char *expected)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	CHECK_OK(database_run(bench->database, sql, NULL, 0, write_row, &text));
	buffer_append(&text, "", 1);
	CHECK_TEXT((const char *)text.bytes, expected);
}

static void check_answer(struct bench *bench, const char *name, char *const *arguments,
			 size_t count, const char *expected)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	CHECK_OK(census_ask(bench->database, census_question_find(name), arguments, count,
			    write_row, &text));
	buffer_append(&text, "", 1);
	CHECK_TEXT((const char *)text.bytes, expected);
}

enum { DAY_1 = 1764590400, DAY_2 = DAY_1 + 86400 };

TEST(images_and_sets_are_kept_once)
{
	struct bench bench = bench_begin();
	add(&bench, "one", DAY_1, 1, true);
	add(&bench, "two", DAY_1, 1, true);
	add(&bench, "one", DAY_2, 1, true);
	check_rows(&bench, "SELECT COUNT(*) FROM images WHERE kind = 'file'", "1\n");
	// That of the program, and that of the kernel.
	check_rows(&bench, "SELECT COUNT(*) FROM image_sets", "2\n");
	check_rows(&bench, "SELECT COUNT(*), SUM(processes) FROM runs", "6|9\n");
	check_rows(&bench, "SELECT path, build, package, version FROM images WHERE kind = 'file'",
		   "/lib/libx.so|01010101|x|1.0\n");
	bench_end(&bench);
}

TEST(a_snapshot_is_added_once)
{
	struct bench bench = bench_begin();
	add(&bench, "one", DAY_1, 1, true);
	add(&bench, "one", DAY_1, 1, false);
	CHECK_OK(census_commit(bench.census));
	check_rows(&bench, "SELECT COUNT(*) FROM snapshots", "1\n");
	bench_end(&bench);
}

TEST(ready_questions_are_answered)
{
	struct bench bench = bench_begin();
	add(&bench, "one", DAY_1, 1, true);
	add(&bench, "two", DAY_1, 1, true);
	add(&bench, "one", DAY_2, 2, true);
	char soname[] = "libx.so", path[] = "/lib/libx.so", id[] = "01010101", host[] = "one",
	     from[] = "2025-12-01", to[] = "2025-12-02";
	check_answer(&bench, "who-runs", (char *[]){ soname }, 1,
		     "one|/bin/a|a.service||2|/lib/libx.so|02020202|1.0\n"
		     "two|/bin/a|a.service||2|/lib/libx.so|01010101|1.0\n");
	check_answer(&bench, "who-runs", (char *[]){ id }, 1,
		     "two|/bin/a|a.service||2|/lib/libx.so|01010101|1.0\n");
	check_answer(&bench, "builds", (char *[]){ path }, 1,
		     "01010101|1.0|2|1764590400000000000|1764590400000000000\n"
		     "02020202|1.0|1|1764676800000000000|1764676800000000000\n");
	check_answer(&bench, "where", (char *[]){ path }, 1,
		     "one|02020202|1.0\ntwo|01010101|1.0\n");
	check_answer(&bench, "changed", (char *[]){ from, to }, 2,
		     "one|gone|/lib/libx.so|01010101|1.0\none|new|/lib/libx.so|02020202|1.0\n");
	check_answer(&bench, "drift", (char *[]){ host }, 1, "two|/lib/libx.so|01010101|1.0\n");
	bench_end(&bench);
}

TEST(questions_are_refused_what_they_do_not_take)
{
	struct bench bench = bench_begin();
	char word[] = "yesterday";
	CHECK(!census_question_find("why"));
	CHECK_ERROR(census_ask(bench.database, census_question_find("who-runs"), NULL, 0, write_row,
			       NULL),
		    IMP_ERR_USAGE);
	CHECK_ERROR(census_ask(bench.database, census_question_find("changed"),
			       (char *[]){ word, word }, 2, write_row, NULL),
		    IMP_ERR_USAGE);
	bench_end(&bench);
}

TEST(reading_changes_nothing)
{
	struct bench bench = bench_begin();
	add(&bench, "one", DAY_1, 1, true);
	CHECK_OK(census_commit(bench.census));
	struct database *reader = NULL;
	CHECK_OK(database_open(bench.path, DATABASE_READ, &reader));
	CHECK_ERROR(database_run(reader, "DELETE FROM runs", NULL, 0, NULL, NULL), IMP_ERR_SYSTEM);
	CHECK_ERROR(database_run(reader, "SELECT nothing", NULL, 0, NULL, NULL), IMP_ERR_SYSTEM);
	database_free(reader);
	struct database *none = NULL;
	CHECK_ERROR(database_open("/nonexistent/x", DATABASE_READ, &none), IMP_ERR_SYSTEM);
	bench_end(&bench);
}
