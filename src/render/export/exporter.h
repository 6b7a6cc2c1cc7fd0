// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Ways out of a profile into other programs' formats: one row of a table each.
#ifndef RENDER_EXPORT_EXPORTER_H
#define RENDER_EXPORT_EXPORTER_H

#include <stdio.h>

#include "profile/profile.h"

struct exporter {
	// As --to names it.
	const char *name;
	// One line for help, no full stop.
	const char *summary;
	// What the output is not to be written to a terminal for.
	bool is_binary;
	// Source lines and inlined frames are worth looking up.
	bool wants_lines;
	// Threads are told apart.
	bool wants_threads;
	struct imp_error *(*write)(const struct profile *profile, FILE *out);
};

// Ends with a row whose name is NULL.
extern const struct exporter exporters[];

// The exporter NAME, or NULL.
const struct exporter *exporter_find(const char *name);

#endif
