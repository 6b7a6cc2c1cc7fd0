// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A census: the snapshots of many hosts in one database, each image and each set of images once.
//
// A program (executable, unit) that runs the same images on a thousand hosts on a hundred days has
// them listed once; a snapshot is a row, and one more for each program. docs/fleets.md computes
// what that comes to.
#ifndef ENVIRONMENT_CENSUS_H
#define ENVIRONMENT_CENSUS_H

#include "environment/database.h"
#include "environment/snapshot.h"

// The schema as SQL, for documentation and for other programs.
extern const char census_schema[];

struct census;

// Opens the census in DATABASE (lent), making the tables if they are not there.
struct imp_error *census_open(struct database *database, struct census **ret) MUST_CHECK;
void census_close(struct census *census);

DEFINE_CLEANUP(struct census *, census, census_close)
#define _cleanup_census_ __attribute__((cleanup(cleanup_census)))

// Adds SNAPSHOT, all or nothing. *IS_NEW is false when this snapshot (host and time) was there.
// Snapshots are made durable many at once: those since the last census_commit() may be lost.
struct imp_error *census_add(struct census *census, const struct snapshot *snapshot,
			     bool *is_new) MUST_CHECK;

struct imp_error *census_commit(struct census *census) MUST_CHECK;

// A ready question.
struct census_question {
	const char *name;
	// Names of its arguments; "" without. A word in brackets may be left out.
	const char *arguments;
	const char *help;
	const char *sql;
	// How many arguments must be given, and at most.
	size_t least, most;
	// A letter each: 't' text, 'h' a host that must be known, 'd' a time ("2026-12-01" or
	// longer), as nanoseconds.
	const char *kinds;
};

// Ends with a row without a name.
extern const struct census_question census_questions[];

const struct census_question *census_question_find(const char *name);

// Asks QUESTION with ARGUMENTS. IMP_ERR_USAGE when they do not fit.
struct imp_error *census_ask(struct database *database, const struct census_question *question,
			     char *const *arguments, size_t count, database_visitor *visit,
			     void *arg) MUST_CHECK;

#endif
