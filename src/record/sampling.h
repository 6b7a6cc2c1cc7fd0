// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// How often samples are taken, and what is in each.
#ifndef RECORD_SAMPLING_H
#define RECORD_SAMPLING_H

#include "base/log.h"
#include "live/event_name.h"

enum call_graph { CALL_GRAPH_NONE, CALL_GRAPH_FP, CALL_GRAPH_DWARF, CALL_GRAPH_LBR };

struct sampling {
	// One of both; 0 and 0 is the default frequency.
	uint64_t frequency, period;
	bool is_fastest;
	enum call_graph call_graph;
	// Bytes of stack that are copied, for CALL_GRAPH_DWARF.
	uint32_t stack_bytes;
	// PERF_SAMPLE_BRANCH_… bits; 0 is none.
	uint64_t branches;
	bool with_addresses;
	// Where samples are taken, and what of the call chain: one of both, or neither.
	bool is_user_only, is_kernel_only;
	bool has_user_chain_only, has_kernel_chain_only;
};

enum { SAMPLING_STACK_BYTES = 8192 };

// Reads "fp", "dwarf", "dwarf,4096", "lbr" or "no". IMP_ERR_USAGE for anything else.
struct imp_error *sampling_read_call_graph(const char *text, struct sampling *sampling) MUST_CHECK;
// Reads "any,u" and the like (perf record -j).
struct imp_error *sampling_read_branches(const char *text, struct sampling *sampling) MUST_CHECK;

// Fills in the attrs of EVENTS. A frequency above what the kernel allows is lowered, which LOG
// hears.
struct imp_error *sampling_apply(const struct sampling *sampling, struct wanted_events *events,
				 const struct log *log) MUST_CHECK;

#endif
