// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// SQLite: a file.
#include <stdlib.h>
#include <string.h>

#include "base/late/late_sqlite.h"
#include "environment/database_driver.h"

enum { CACHED_STATEMENTS = 32, MOST_COLUMNS = 64 };

struct statement {
	const char *sql;
	sqlite3_stmt *prepared;
};

struct connection {
	sqlite3 *sqlite;
	struct statement statements[CACHED_STATEMENTS];
	size_t next;
};

static struct imp_error *failed(const struct connection *connection, const char *what)
{
	return error_new(IMP_ERR_SYSTEM, "database: %s: %s", what,
			 connection->sqlite ? sqlite3_errmsg(connection->sqlite) : "no memory");
}

static void sqlite_close(void *arg)
{
	struct connection *connection = arg;
	for (size_t i = 0; i < CACHED_STATEMENTS; i++)
		sqlite3_finalize(connection->statements[i].prepared);
	sqlite3_close(connection->sqlite);
	free(connection);
}

static struct imp_error *sqlite_open(const char *where, enum database_mode mode, void **ret)
{
	struct imp_error *err = late_sqlite_load();
	if (err)
		return err;
	struct connection *connection = calloc(1, sizeof *connection);
	if (!connection)
		return &imp_error_no_memory;
	int flags = mode == DATABASE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
					   : SQLITE_OPEN_READONLY;
	if (sqlite3_open_v2(where, &connection->sqlite, flags, NULL) != SQLITE_OK)
		err = error_context(failed(connection, "cannot open"), "%s", where);
	if (err) {
		sqlite_close(connection);
		return err;
	}
	sqlite3_busy_timeout(connection->sqlite, 60 * 1000);
	*ret = connection;
	return NULL;
}

static struct imp_error *prepare(struct connection *connection, const char *sql, sqlite3_stmt **ret)
{
	for (size_t i = 0; i < CACHED_STATEMENTS; i++) {
		if (connection->statements[i].sql == sql) {
			*ret = connection->statements[i].prepared;
			return NULL;
		}
	}
	struct statement *slot = &connection->statements[connection->next++ % CACHED_STATEMENTS];
	sqlite3_finalize(slot->prepared);
	*slot = (struct statement){ 0 };
	if (sqlite3_prepare_v2(connection->sqlite, sql, -1, &slot->prepared, NULL) != SQLITE_OK)
		return failed(connection, "cannot understand the statement");
	if (!slot->prepared)
		return error_new(IMP_ERR_USAGE, "database: the statement is empty");
	slot->sql = sql;
	*ret = slot->prepared;
	return NULL;
}

static bool bind(sqlite3_stmt *statement, const struct database_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int at = (int)i + 1;
		int status = values[i].text ? sqlite3_bind_text(statement, at, values[i].text, -1,
								SQLITE_STATIC)
					    : sqlite3_bind_int64(statement, at, values[i].number);
		if (status != SQLITE_OK)
			return false;
	}
	return true;
}

static struct imp_error *visit_row(sqlite3_stmt *statement, bool has_values,
				   database_visitor *visit, void *arg)
{
	const char *names[MOST_COLUMNS], *values[MOST_COLUMNS];
	int count = sqlite3_column_count(statement);
	if (count > MOST_COLUMNS)
		count = MOST_COLUMNS;
	for (int i = 0; i < count; i++) {
		names[i] = sqlite3_column_name(statement, i);
		values[i] = has_values ? (const char *)sqlite3_column_text(statement, i) : NULL;
	}
	struct database_row row = { .count = (size_t)count,
				    .names = names,
				    .values = has_values ? values : NULL };
	return visit(arg, &row);
}

static struct imp_error *step(struct connection *connection, sqlite3_stmt *statement,
			      database_visitor *visit, void *arg)
{
	struct imp_error *err = visit ? visit_row(statement, false, visit, arg) : NULL;
	while (!err) {
		int status = sqlite3_step(statement);
		if (status == SQLITE_DONE)
			break;
		if (status != SQLITE_ROW)
			err = failed(connection, "cannot run the statement");
		else if (visit)
			err = visit_row(statement, true, visit, arg);
	}
	return err;
}

static struct imp_error *sqlite_run(void *arg, const char *sql, const struct database_value *values,
				    size_t count, database_visitor *visit, void *visit_arg)
{
	struct connection *connection = arg;
	sqlite3_stmt *statement = NULL;
	struct imp_error *err = prepare(connection, sql, &statement);
	if (err)
		return err;
	err = bind(statement, values, count) ? step(connection, statement, visit, visit_arg)
					     : failed(connection, "cannot bind a parameter");
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return err;
}

static struct imp_error *sqlite_script(void *arg, const char *sql)
{
	struct connection *connection = arg;
	if (sqlite3_exec(connection->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
		return failed(connection, "cannot run the statements");
	return NULL;
}

const struct database_driver database_sqlite = {
	.open = sqlite_open,
	.close = sqlite_close,
	.run = sqlite_run,
	.script = sqlite_script,
};
