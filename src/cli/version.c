// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The version and the optional parts.
#include "cli/version.h"

#include <stdbool.h>

#include "config.h"

static const struct part {
	const char *name;
	const char *use;
	bool is_built_in;
} parts[] = {
	{ "debuginfod", "fetching by build ID", HAVE_DEBUGINFOD },
	{ "tracepoints", "events by name", HAVE_TRACEPOINTS },
	{ "pfm", "event names of libpfm4", HAVE_PFM },
	{ "tui", "interactive reports", HAVE_TUI },
	{ "http", "serving a store", HAVE_HTTP },
	{ "s3", "object stores", HAVE_S3 },
	{ "postgres", "a census in PostgreSQL", HAVE_POSTGRES },
};

void version_print(FILE *out)
{
	fprintf(out, "imprint %s\n", IMPRINT_VERSION);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		fprintf(out, "  %-12s %-4s %s\n", parts[i].name,
			parts[i].is_built_in ? "on" : "off", parts[i].use);
}
