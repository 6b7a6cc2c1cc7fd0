// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A profile as text, in the shape of `perf report --stdio`: what was recorded and how sure the
// identities are, rows by event, and what could not be named.
#ifndef RENDER_TEXT_REPORT_H
#define RENDER_TEXT_REPORT_H

#include "render/branches.h"

struct text_report_options {
	struct column_list columns;
	// Also count what is called from each row; rows are ordered by that.
	bool with_children;
	bool with_samples;
	// Rows below this share of their event's weight are left out.
	double percent_limit;
	// Between fields, which are then not aligned; NULL for columns.
	const char *separator;
	// Show call chains whose share is at least chain_limit percent.
	bool with_chains;
	enum branch_order order;
	double chain_limit;
	// Chains' shares are of their parent's weight, not of the event's.
	bool is_relative;
	// Only the rows.
	bool is_bare;
};

// Writes PROFILE to OUT. Errors are for memory; OUT's own are the caller's to see.
struct imp_error *text_report(const struct profile *profile,
			      const struct text_report_options *options, FILE *out) MUST_CHECK;

#endif
