// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The ready questions of a census, in SQL that SQLite and PostgreSQL both understand.
//
// Sets of images are compared before the images in them: most hosts run the same sets.
#include <string.h>

#include "environment/census.h"
#include "environment/snapshot_file.h"

// The newest snapshot of each host not after $PLACE.
#define LATEST_BEFORE(place)                                                            \
	"SELECT s.host_id, s.snapshot_id, s.time_ns FROM snapshots s WHERE s.time_ns =" \
	" (SELECT MAX(m.time_ns) FROM snapshots m WHERE m.host_id = s.host_id"          \
	" AND m.time_ns <= CAST(" place " AS BIGINT))"

#define LATEST_FROM LATEST_BEFORE("$1")
#define LATEST_TO LATEST_BEFORE("$2")

#define LATEST                                                                          \
	"SELECT s.host_id, s.snapshot_id, s.time_ns FROM snapshots s WHERE s.time_ns =" \
	" (SELECT MAX(m.time_ns) FROM snapshots m WHERE m.host_id = s.host_id)"

const struct census_question census_questions[] = {
	{ .name = "hosts",
	  .arguments = "",
	  .help = "each host with its newest snapshot",
	  .sql = "SELECT h.name AS host, h.machine_id, COUNT(*) AS snapshots,"
		 " MAX(s.time_ns) AS newest_ns, MIN(s.time_ns) AS oldest_ns"
		 " FROM hosts h JOIN snapshots s ON s.host_id = h.host_id"
		 " GROUP BY h.host_id, h.name, h.machine_id ORDER BY h.name, h.machine_id",
	  .kinds = "" },
	{ .name = "who-runs",
	  .arguments = "WHAT",
	  .help = "hosts and programs whose newest snapshot runs a build ID, soname or path",
	  .sql = "WITH latest AS (" LATEST "),"
		 " wanted AS (SELECT image_id, path, build, version FROM images"
		 " WHERE build = $1 OR soname = $1 OR path = $1)"
		 " SELECT h.name AS host, p.exe, p.unit, p.runtime, r.processes, w.path, w.build,"
		 " w.version FROM wanted w JOIN set_members m ON m.image_id = w.image_id"
		 " JOIN runs r ON r.set_id = m.set_id"
		 " JOIN latest l ON l.snapshot_id = r.snapshot_id"
		 " JOIN programs p ON p.program_id = r.program_id"
		 " JOIN hosts h ON h.host_id = l.host_id"
		 " ORDER BY h.name, p.exe, p.unit, w.path, w.build, r.processes",
	  .least = 1,
	  .most = 1,
	  .kinds = "t" },
	{ .name = "builds",
	  .arguments = "PATH",
	  .help = "which builds of a path there are, on how many hosts, first and last seen",
	  .sql = "WITH wanted AS (SELECT image_id, build, version FROM images WHERE path = $1),"
		 " seen AS (SELECT DISTINCT w.build, w.version, r.snapshot_id FROM wanted w"
		 " JOIN set_members m ON m.image_id = w.image_id"
		 " JOIN runs r ON r.set_id = m.set_id)"
		 " SELECT e.build, e.version, COUNT(DISTINCT s.host_id) AS hosts,"
		 " MIN(s.time_ns) AS first_ns, MAX(s.time_ns) AS last_ns"
		 " FROM seen e JOIN snapshots s ON s.snapshot_id = e.snapshot_id"
		 " GROUP BY e.build, e.version ORDER BY MIN(s.time_ns), e.build",
	  .least = 1,
	  .most = 1,
	  .kinds = "t" },
	{ .name = "where",
	  .arguments = "PATH",
	  .help = "which build of a path each host's newest snapshot runs",
	  .sql = "WITH latest AS (" LATEST "),"
		 " wanted AS (SELECT image_id, build, version FROM images WHERE path = $1)"
		 " SELECT DISTINCT h.name AS host, w.build, w.version FROM wanted w"
		 " JOIN set_members m ON m.image_id = w.image_id"
		 " JOIN runs r ON r.set_id = m.set_id"
		 " JOIN latest l ON l.snapshot_id = r.snapshot_id"
		 " JOIN hosts h ON h.host_id = l.host_id ORDER BY h.name, w.build",
	  .least = 1,
	  .most = 1,
	  .kinds = "t" },
	{ .name = "changed",
	  .arguments = "FROM TO",
	  .help = "what each host ran at one date and no longer at another, or the other way round",
	  .sql = "WITH old_sets AS (SELECT DISTINCT b.host_id, r.set_id FROM"
		 " (" LATEST_FROM ") b JOIN runs r ON r.snapshot_id = b.snapshot_id),"
		 " new_sets AS (SELECT DISTINCT a.host_id, r.set_id FROM"
		 " (" LATEST_TO ") a JOIN runs r ON r.snapshot_id = a.snapshot_id),"
		 " lost AS (SELECT DISTINCT c.host_id, m.image_id FROM"
		 " (SELECT host_id, set_id FROM old_sets"
		 " EXCEPT SELECT host_id, set_id FROM new_sets) c"
		 " JOIN set_members m ON m.set_id = c.set_id),"
		 " found AS (SELECT DISTINCT c.host_id, m.image_id FROM"
		 " (SELECT host_id, set_id FROM new_sets"
		 " EXCEPT SELECT host_id, set_id FROM old_sets) c"
		 " JOIN set_members m ON m.set_id = c.set_id),"
		 " away AS (SELECT host_id, image_id FROM lost"
		 " EXCEPT SELECT host_id, image_id FROM found),"
		 " come AS (SELECT host_id, image_id FROM found"
		 " EXCEPT SELECT host_id, image_id FROM lost),"
		 // The few that are left may stand in sets that did not
		 // change.
		 " kept AS (SELECT DISTINCT a.host_id, a.image_id FROM away a"
		 " JOIN new_sets n ON n.host_id = a.host_id"
		 " JOIN set_members m ON m.set_id = n.set_id AND m.image_id = a.image_id),"
		 " known AS (SELECT DISTINCT a.host_id, a.image_id FROM come a"
		 " JOIN old_sets o ON o.host_id = a.host_id"
		 " JOIN set_members m ON m.set_id = o.set_id AND m.image_id = a.image_id)"
		 " SELECT h.name AS host, c.difference, i.path, i.build, i.version FROM"
		 " (SELECT 'gone' AS difference, host_id, image_id FROM"
		 " (SELECT host_id, image_id FROM away"
		 " EXCEPT SELECT host_id, image_id FROM kept) g"
		 " UNION ALL SELECT 'new' AS difference, host_id, image_id FROM"
		 " (SELECT host_id, image_id FROM come"
		 " EXCEPT SELECT host_id, image_id FROM known) f) c"
		 " JOIN images i ON i.image_id = c.image_id"
		 " JOIN hosts h ON h.host_id = c.host_id"
		 " ORDER BY h.name, i.path, c.difference, i.build",
	  .least = 2,
	  .most = 2,
	  .kinds = "dd" },
	{ .name = "drift",
	  .arguments = "HOST",
	  .help = "builds that other hosts run now at paths where the reference host has others",
	  .sql = "WITH latest AS (" LATEST "),"
		 " reference_sets AS (SELECT DISTINCT r.set_id FROM latest l"
		 " JOIN hosts h ON h.host_id = l.host_id JOIN runs r"
		 " ON r.snapshot_id = l.snapshot_id WHERE h.name = $1),"
		 " reference AS (SELECT DISTINCT i.path, i.build FROM reference_sets s"
		 " JOIN set_members m ON m.set_id = s.set_id"
		 " JOIN images i ON i.image_id = m.image_id),"
		 " others AS (SELECT DISTINCT l.host_id, r.set_id FROM latest l"
		 " JOIN runs r ON r.snapshot_id = l.snapshot_id"
		 " WHERE r.set_id NOT IN (SELECT set_id FROM reference_sets)),"
		 " differing AS (SELECT DISTINCT m.set_id, i.path, i.build, i.version FROM"
		 " (SELECT DISTINCT set_id FROM others) d"
		 " JOIN set_members m ON m.set_id = d.set_id"
		 " JOIN images i ON i.image_id = m.image_id"
		 " WHERE i.path IN (SELECT path FROM reference) AND NOT EXISTS"
		 " (SELECT 1 FROM reference q WHERE q.path = i.path AND q.build = i.build))"
		 " SELECT DISTINCT h.name AS host, d.path, d.build, d.version FROM others o"
		 " JOIN differing d ON d.set_id = o.set_id"
		 " JOIN hosts h ON h.host_id = o.host_id ORDER BY h.name, d.path, d.build",
	  .least = 1,
	  .most = 1,
	  .kinds = "h" },
	{ 0 },
};

const struct census_question *census_question_find(const char *name)
{
	for (const struct census_question *at = census_questions; at->name; at++)
		if (!strcmp(at->name, name))
			return at;
	return NULL;
}

// "2026-12-01" means its end: what ran at that date.
static int64_t parse_time(const char *text)
{
	char whole[64];
	snprintf(whole, sizeof whole, strlen(text) == 10 ? "%sT23:59:59.999999999Z" : "%s", text);
	return (int64_t)time_text_parse(whole);
}

static struct imp_error *take_count(void *arg, const struct database_row *row)
{
	if (row->values)
		*(bool *)arg = row->values[0] && strcmp(row->values[0], "0") != 0;
	return NULL;
}

// A host that nobody knows would be answered like one that is in order.
static struct imp_error *check_host(struct database *database, const char *name)
{
	bool is_known = false;
	struct database_value value = { .text = name };
	struct imp_error *err = database_run(database, "SELECT count(*) FROM hosts WHERE name = $1",
					     &value, 1, take_count, &is_known);
	if (!err && !is_known)
		err = error_new(IMP_ERR_USAGE, "no host %s; 'census query hosts' lists them", name);
	return err;
}

struct imp_error *census_ask(struct database *database, const struct census_question *question,
			     char *const *arguments, size_t count, database_visitor *visit,
			     void *arg)
{
	enum { MOST_ARGUMENTS = 4 };
	if (count < question->least || count > question->most || count > MOST_ARGUMENTS)
		return error_new(IMP_ERR_USAGE, "%s takes %s", question->name,
				 *question->arguments ? question->arguments : "no argument");
	struct database_value values[MOST_ARGUMENTS] = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		if (question->kinds[i] != 'd') {
			values[i].text = arguments[i];
			struct imp_error *err = question->kinds[i] == 'h'
							? check_host(database, arguments[i])
							: NULL;
			if (err)
				return err;
			continue;
		}
		values[i].number = parse_time(arguments[i]);
		if (!values[i].number)
			return error_new(IMP_ERR_USAGE, "not a date (2026-12-01): %s",
					 arguments[i]);
	}
	return database_run(database, question->sql, values, count, visit, arg);
}
