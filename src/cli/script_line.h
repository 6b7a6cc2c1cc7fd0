// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One record as text, in the layout of `perf script`.
#ifndef CLI_SCRIPT_LINE_H
#define CLI_SCRIPT_LINE_H

#include "analyze/deferred.h"
#include "analyze/sample_choice.h"
#include "analyze/stack_walk.h"
#include "analyze/survey.h"
#include "symbolize/symbolizer.h"

enum script_field {
	SCRIPT_COMM,
	SCRIPT_TID,
	SCRIPT_PID,
	SCRIPT_CPU,
	SCRIPT_TIME,
	SCRIPT_PERIOD,
	SCRIPT_EVENT,
	SCRIPT_ADDR,
	SCRIPT_IP,
	SCRIPT_SYM,
	SCRIPT_SYMOFF,
	SCRIPT_DSO,
	SCRIPT_SRCLINE,
	SCRIPT_BUILD_ID,
	SCRIPT_CGROUP,
	SCRIPT_REASON,
	SCRIPT_FIELDS
};

// A field's name as -F has it; NULL behind the last.
const char *script_field_name(unsigned field);

struct script_lines {
	FILE *out;
	const struct survey *survey;
	struct symbolizer *symbolizer;
	// Makes callers of copied stacks; NULL: nothing does.
	struct stack_walker *walker;
	// NULL when there are none.
	struct deferred_chains *deferred;
	bool shows[SCRIPT_FIELDS];
	// Nine digits of a second instead of six.
	bool has_nanoseconds;
	// Only the sampled address, though there are call chains.
	bool no_chains;
	// Which samples are meant; NULL: all. Lent.
	const struct sample_choice *choice;
	// Width of the longest event's name.
	int event_width;
	struct timeline_cache cache;
	struct chain chain;
};

void script_lines_fini(struct script_lines *lines);

// Errors are for memory; a record that cannot be read leaves no line.
struct imp_error *script_print_sample(struct script_lines *lines,
				      const struct record *record) MUST_CHECK;

// MMAP, MMAP2, COMM, FORK, EXIT, NAMESPACES, CGROUP and lost records.
struct imp_error *script_print_meta(struct script_lines *lines,
				    const struct record *record) MUST_CHECK;

// What stands behind such a record's name; nothing for one that cannot be read.
void script_print_body(FILE *out, const struct record *record);

#endif
