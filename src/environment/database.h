// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A database that takes one dialect of SQL: SQLite in a file, or a PostgreSQL server.
//
// Statements are written so that both understand them; parameters are $1, $2, ... and first appear
// in this order.
#ifndef ENVIRONMENT_DATABASE_H
#define ENVIRONMENT_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct database;

enum database_mode { DATABASE_READ, DATABASE_WRITE };

// Opens WHERE: "postgresql://..." or "postgres://..." is a server, anything else the path of a
// SQLite file, which DATABASE_WRITE creates. With DATABASE_READ nothing can be changed, whatever
// the statement.
struct imp_error *database_open(const char *where, enum database_mode mode,
				struct database **ret) MUST_CHECK;
void database_free(struct database *database);

DEFINE_CLEANUP(struct database *, database, database_free)
#define _cleanup_database_ __attribute__((cleanup(cleanup_database)))

// A parameter: a text, or the number when that is NULL.
struct database_value {
	const char *text;
	int64_t number;
};

struct database_row {
	size_t count;
	// Lent for the call; a NULL value is null.
	const char *const *names;
	const char *const *values;
};

// Called for each row; with `values` NULL once before, so that the names are known without rows.
typedef struct imp_error *database_visitor(void *arg, const struct database_row *row);

// Runs SQL with COUNT parameters. VISIT may be NULL. SQL that is the same text at the same address
// is prepared once.
struct imp_error *database_run(struct database *database, const char *sql,
			       const struct database_value *values, size_t count,
			       database_visitor *visit, void *arg) MUST_CHECK;

// Runs SQL of any number of statements, without parameters or rows.
struct imp_error *database_script(struct database *database, const char *sql) MUST_CHECK;

#endif
