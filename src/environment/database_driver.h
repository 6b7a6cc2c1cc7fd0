// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a kind of database must do.
#ifndef ENVIRONMENT_DATABASE_DRIVER_H
#define ENVIRONMENT_DATABASE_DRIVER_H

#include "environment/database.h"

struct database_driver {
	// WHERE begins with one of these; NULL-terminated. Without: takes everything.
	const char *const *schemes;
	// *ret is the connection.
	struct imp_error *(*open)(const char *where, enum database_mode mode, void **ret);
	void (*close)(void *connection);
	struct imp_error *(*run)(void *connection, const char *sql,
				 const struct database_value *values, size_t count,
				 database_visitor *visit, void *arg);
	struct imp_error *(*script)(void *connection, const char *sql);
};

extern const struct database_driver database_sqlite;
extern const struct database_driver database_postgres;

#endif
