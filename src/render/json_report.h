// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A profile as JSON: docs/json.md tells every member.
#ifndef RENDER_JSON_REPORT_H
#define RENDER_JSON_REPORT_H

#include "render/columns.h"

struct json_report_options {
	// Columns beyond the fixed ones: pid, tid, cpu and srcline are added to each row.
	struct column_list columns;
	// Also what is called from each row.
	bool with_children;
	// Also the call chains.
	bool with_stacks;
};

struct imp_error *json_report(const struct profile *profile,
			      const struct json_report_options *options, FILE *out) MUST_CHECK;

#endif
