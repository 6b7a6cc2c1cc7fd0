// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint census: the snapshots of many hosts in one database, and questions to it.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/printable.h"
#include "environment/census.h"
#include "environment/snapshot_file.h"

struct census_options {
	const char *db;
	bool json;
};

#define DB_ROW                                                                              \
	{                                                                                   \
		.kind = OPTION_TEXT, .name = "db", .argument = "DB",                        \
		.help = "the database: a file, or postgresql://... ($IMPRINT_CENSUS, else " \
			"~/.local/share/imprint/census.sqlite)",                            \
		.offset = offsetof(struct census_options, db)                               \
	}
#define JSON_ROW                                                             \
	{                                                                    \
		.kind = OPTION_FLAG, .name = "json", .help = "rows as JSON", \
		.offset = offsetof(struct census_options, json)              \
	}

static const struct option add_rows[] = { DB_ROW, { .kind = OPTION_END } };
static const struct option query_rows[] = { DB_ROW, JSON_ROW, { .kind = OPTION_END } };

// Makes the directories above PATH.
static void make_parents(const char *path)
{
	_cleanup_free_ char *part = strdup(path);
	for (char *slash = part ? strchr(part + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		(void)mkdir(part, 0777);
		*slash = '/';
	}
}

static struct imp_error *open_census(const struct census_options *options, enum database_mode mode,
				     struct database **ret)
{
	_cleanup_free_ char *place = options->db ? strdup(options->db) : places_census();
	if (!place)
		return error_new(IMP_ERR_USAGE, "say which database: --db DB");
	if (mode == DATABASE_WRITE && !options->db && !strstr(place, "://"))
		make_parents(place);
	_cleanup_database_ struct database *database = NULL;
	struct imp_error *err = database_open(place, mode, &database);
	if (err)
		return err;
	*ret = steal(database);
	return NULL;
}

// Names the file that ERR (may be NULL) came of. A server's address may hold a password.
static struct imp_error *name_database(struct imp_error *err, const struct census_options *options)
{
	bool is_file = options->db && !strstr(options->db, "://");
	if (!err || !is_file || imp_error_code(err) == IMP_ERR_USAGE)
		return err;
	return error_context(err, "%s", options->db);
}

static int add_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct operands *operands = &invocation->operands;
	if (!operands->count) {
		*err = error_new(IMP_ERR_USAGE, "census add takes snapshots");
		return EXIT_USAGE;
	}
	_cleanup_database_ struct database *database = NULL;
	_cleanup_census_ struct census *census = NULL;
	*err = open_census(invocation->options, DATABASE_WRITE, &database);
	if (!*err)
		*err = name_database(census_open(database, &census), invocation->options);
	size_t added = 0, known = 0;
	for (size_t i = 0; !*err && i < operands->count; i++) {
		_cleanup_snapshot_ struct snapshot *snapshot = NULL;
		bool is_new = false;
		log_progress(invocation->log, "snapshots", i, operands->count);
		*err = snapshot_read(operands->items[i], &snapshot);
		if (!*err)
			*err = name_database(census_add(census, snapshot, &is_new),
					     invocation->options);
		added += !*err && is_new;
		known += !*err && !is_new;
	}
	if (census) {
		struct imp_error *commit = census_commit(census);
		if (*err)
			imp_error_free(commit);
		else
			*err = commit;
	}
	if (*err && added)
		log_message(invocation->log, LOG_WARNING, "%zu snapshots were added before", added);
	if (*err)
		return EXIT_FAILED;
	printf("%zu added, %zu known\n", added, known);
	return EXIT_DONE;
}

struct table_printer {
	struct json json;
	bool is_json;
};

static struct imp_error *print_row(void *arg, const struct database_row *row)
{
	struct table_printer *printer = arg;
	if (printer->is_json && !row->values)
		return NULL;
	if (printer->is_json)
		json_begin_object(&printer->json);
	for (size_t i = 0; i < row->count; i++) {
		const char *text = row->values ? row->values[i] : row->names[i];
		if (printer->is_json) {
			json_member_string(&printer->json, row->names[i], text);
		} else {
			printable(stdout, text ? text : "");
			putchar(i + 1 < row->count ? '\t' : '\n');
		}
	}
	if (printer->is_json)
		json_end_object(&printer->json);
	return NULL;
}

static struct imp_error *ask(struct database *database, const struct operands *operands,
			     struct table_printer *printer)
{
	const char *name = operands->items[0];
	const struct census_question *question = census_question_find(name);
	if (question)
		return census_ask(database, question, operands->items + 1, operands->count - 1,
				  print_row, printer);
	// A question of one's own has at least one space in it.
	if (!strchr(name, ' '))
		return error_new(IMP_ERR_USAGE,
				 "'%s' is no question; 'imprint census questions' lists them",
				 name);
	if (operands->count > 1)
		return error_new(IMP_ERR_USAGE, "the SQL must be one operand");
	return database_run(database, name, NULL, 0, print_row, printer);
}

static int query_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct census_options *options = invocation->options;
	if (!invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, "census query takes a question");
		return EXIT_USAGE;
	}
	_cleanup_database_ struct database *database = NULL;
	*err = open_census(options, DATABASE_READ, &database);
	if (*err)
		return EXIT_FAILED;
	struct table_printer printer = { .json = { .out = stdout }, .is_json = options->json };
	if (options->json) {
		json_begin_object(&printer.json);
		json_member_string(&printer.json, "format", "imprint-census");
		json_member_uint(&printer.json, "version", 1);
		json_key(&printer.json, "rows");
		json_begin_array(&printer.json);
	}
	*err = name_database(ask(database, &invocation->operands, &printer), options);
	if (options->json) {
		json_end_array(&printer.json);
		json_end_object(&printer.json);
	}
	return *err ? EXIT_FAILED : EXIT_DONE;
}

static int questions_run(const struct invocation *invocation, struct imp_error **err)
{
	(void)invocation;
	(void)err;
	for (const struct census_question *question = census_questions; question->name; question++)
		printf("%-10s %-10s %s\n", question->name, question->arguments, question->help);
	return EXIT_DONE;
}

static int schema_run(const struct invocation *invocation, struct imp_error **err)
{
	(void)invocation;
	(void)err;
	fputs(census_schema, stdout);
	return EXIT_DONE;
}

static const struct option no_rows[] = { { .kind = OPTION_END } };

static const struct command census_add_command = {
	.name = "add",
	.summary = "Add snapshots",
	.usage = "census add [--db DB] SNAPSHOT...",
	.description =
		"A snapshot that is there already is skipped. Each is added whole or not at all.",
	.options = add_rows,
	.options_size = sizeof(struct census_options),
	.run = add_run,
};

static const struct command census_query_command = {
	.name = "query",
	.summary = "Ask a ready question, or one of your own in SQL",
	.usage = "census query [--db DB] [--json] QUESTION [ARGUMENT...] | SQL",
	.description =
		"Rows are separated by tabs, with their names first. Nothing can be changed.",
	.options = query_rows,
	.options_size = sizeof(struct census_options),
	.run = query_run,
};

static const struct command census_questions_command = {
	.name = "questions",
	.summary = "List the ready questions",
	.usage = "census questions",
	.options = no_rows,
	.run = questions_run,
};

static const struct command census_schema_command = {
	.name = "schema",
	.summary = "Print the tables as SQL",
	.usage = "census schema",
	.options = no_rows,
	.run = schema_run,
};

static const struct command *const subcommands[] = {
	&census_add_command,
	&census_query_command,
	&census_questions_command,
	&census_schema_command,
	NULL,
};

const struct command command_census = {
	.name = "census",
	.summary = "Ask about the snapshots of many hosts together",
	.usage = "census COMMAND [OPTIONS]",
	.subcommands = subcommands,
};
