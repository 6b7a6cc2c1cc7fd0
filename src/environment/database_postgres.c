// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// PostgreSQL: a server, for teams.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "environment/database_driver.h"

static const char *const schemes[] = { "postgresql://", "postgres://", NULL };

#if HAVE_POSTGRES
#include "base/late/late_postgres.h"

enum { CACHED_STATEMENTS = 32, MOST_VALUES = 16, MOST_COLUMNS = 64 };

struct connection {
	PGconn *server;
	// Prepared statements, named by their place.
	const char *statements[CACHED_STATEMENTS];
	size_t count;
};

static struct imp_error *failed(const struct connection *connection, const char *what)
{
	// The server's message ends with a newline.
	const char *message = PQerrorMessage(connection->server);
	int length = 0;
	while (message[length] && message[length] != '\n')
		length++;
	return error_new(IMP_ERR_SYSTEM, "database: %s: %.*s", what, length, message);
}

static void postgres_close(void *arg)
{
	struct connection *connection = arg;
	PQfinish(connection->server);
	free(connection);
}

// Runs SQL, of which nothing is wanted but that it succeeds.
static struct imp_error *execute(const struct connection *connection, const char *sql)
{
	PGresult *result = PQexec(connection->server, sql);
	ExecStatusType status = PQresultStatus(result);
	PQclear(result);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
		       ? NULL
		       : failed(connection, "cannot run the statements");
}

static void ignore_notice(void *arg, const PGresult *result)
{
	(void)arg;
	(void)result;
}

static struct imp_error *postgres_open(const char *where, enum database_mode mode, void **ret)
{
	struct imp_error *err = late_postgres_load();
	if (err)
		return err;
	struct connection *connection = calloc(1, sizeof *connection);
	if (!connection)
		return &imp_error_no_memory;
	connection->server = PQconnectdb(where);
	if (PQstatus(connection->server) != CONNECTION_OK)
		err = failed(connection, "cannot connect");
	if (!err) {
		PQsetNoticeReceiver(connection->server, ignore_notice, NULL);
		if (PQsetClientEncoding(connection->server, "UTF8"))
			err = failed(connection, "cannot set the encoding");
	}
	if (!err && mode == DATABASE_READ)
		err = execute(connection, "SET default_transaction_read_only = on");
	if (err) {
		postgres_close(connection);
		return err;
	}
	*ret = connection;
	return NULL;
}

static struct imp_error *visit_rows(const PGresult *result, database_visitor *visit, void *arg)
{
	const char *names[MOST_COLUMNS], *values[MOST_COLUMNS];
	int count = PQnfields(result);
	if (count > MOST_COLUMNS)
		count = MOST_COLUMNS;
	for (int i = 0; i < count; i++)
		names[i] = PQfname(result, i);
	struct database_row row = { .count = (size_t)count, .names = names };
	struct imp_error *err = visit(arg, &row);
	row.values = values;
	for (int k = 0; !err && k < PQntuples(result); k++) {
		for (int i = 0; i < count; i++)
			values[i] = PQgetisnull(result, k, i) ? NULL : PQgetvalue(result, k, i);
		err = visit(arg, &row);
	}
	return err;
}

// The name under which SQL is prepared.
static struct imp_error *prepare(struct connection *connection, const char *sql, char *name,
				 size_t size)
{
	size_t at = 0;
	while (at < connection->count && connection->statements[at] != sql)
		at++;
	snprintf(name, size, "s%zu", at);
	if (at < connection->count)
		return NULL;
	if (at == CACHED_STATEMENTS)
		// The nameless one is prepared anew each time.
		name[0] = 0;
	PGresult *result = PQprepare(connection->server, name, sql, 0, NULL);
	ExecStatusType status = PQresultStatus(result);
	PQclear(result);
	if (status != PGRES_COMMAND_OK)
		return failed(connection, "cannot understand the statement");
	if (at < CACHED_STATEMENTS)
		connection->statements[connection->count++] = sql;
	return NULL;
}

static struct imp_error *postgres_run(void *arg, const char *sql,
				      const struct database_value *values, size_t count,
				      database_visitor *visit, void *visit_arg)
{
	struct connection *connection = arg;
	char name[32], numbers[MOST_VALUES][24];
	const char *texts[MOST_VALUES];
	if (count > MOST_VALUES)
		return error_new(IMP_ERR_UNSUPPORTED, "database: too many parameters");
	struct imp_error *err = prepare(connection, sql, name, sizeof name);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%" PRId64, values[i].number);
		texts[i] = values[i].text ? values[i].text : numbers[i];
	}
	PGresult *result =
		PQexecPrepared(connection->server, name, (int)count, texts, NULL, NULL, 0);
	ExecStatusType status = PQresultStatus(result);
	if (status == PGRES_TUPLES_OK)
		err = visit ? visit_rows(result, visit, visit_arg) : NULL;
	else if (status != PGRES_COMMAND_OK)
		err = failed(connection, "cannot run the statement");
	PQclear(result);
	return err;
}

static struct imp_error *postgres_script(void *arg, const char *sql)
{
	return execute(arg, sql);
}

#else

static struct imp_error *postgres_open(const char *where, enum database_mode mode, void **ret)
{
	(void)mode;
	(void)ret;
	(void)where;
	return error_new(IMP_ERR_UNSUPPORTED, "built without PostgreSQL");
}

static void postgres_close(void *arg)
{
	(void)arg;
}

static struct imp_error *postgres_run(void *arg, const char *sql,
				      const struct database_value *values, size_t count,
				      database_visitor *visit, void *visit_arg)
{
	(void)arg;
	(void)values;
	(void)count;
	(void)visit;
	(void)visit_arg;
	(void)sql;
	return error_new(IMP_ERR_UNSUPPORTED, "built without PostgreSQL");
}

static struct imp_error *postgres_script(void *arg, const char *sql)
{
	return postgres_run(arg, sql, NULL, 0, NULL, NULL);
}

#endif

const struct database_driver database_postgres = {
	.schemes = schemes,
	.open = postgres_open,
	.close = postgres_close,
	.run = postgres_run,
	.script = postgres_script,
};
