// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Call chains drawn with lines and shares, as perf draws them.
#ifndef RENDER_GRAPH_H
#define RENDER_GRAPH_H

#include "render/branches.h"

struct graph_options {
	// The weight that is 100 percent.
	uint64_t whole;
	// Branches below this percentage are left out.
	double limit;
	// Shares are of the parent's weight.
	bool is_relative;
};

struct imp_error *graph_print(const struct branches *branches, const struct graph_options *options,
			      FILE *out) MUST_CHECK;

#endif
