// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Choosing the kind of database by its name.
#include "environment/database.h"

#include <stdlib.h>
#include <string.h>

#include "environment/database_driver.h"

struct database {
	const struct database_driver *driver;
	void *connection;
};

static const struct database_driver *const drivers[] = { &database_postgres, &database_sqlite };

static bool takes(const struct database_driver *driver, const char *where)
{
	if (!driver->schemes)
		return true;
	for (const char *const *scheme = driver->schemes; *scheme; scheme++)
		if (!strncmp(where, *scheme, strlen(*scheme)))
			return true;
	return false;
}

struct imp_error *database_open(const char *where, enum database_mode mode, struct database **ret)
{
	struct database *database = calloc(1, sizeof *database);
	if (!database)
		return &imp_error_no_memory;
	for (size_t i = 0; !database->driver; i++)
		if (takes(drivers[i], where))
			database->driver = drivers[i];
	struct imp_error *err = database->driver->open(where, mode, &database->connection);
	if (err) {
		free(database);
		return err;
	}
	*ret = database;
	return NULL;
}

void database_free(struct database *database)
{
	if (!database)
		return;
	database->driver->close(database->connection);
	free(database);
}

struct imp_error *database_run(struct database *database, const char *sql,
			       const struct database_value *values, size_t count,
			       database_visitor *visit, void *arg)
{
	return database->driver->run(database->connection, sql, values, count, visit, arg);
}

struct imp_error *database_script(struct database *database, const char *sql)
{
	return database->driver->script(database->connection, sql);
}
