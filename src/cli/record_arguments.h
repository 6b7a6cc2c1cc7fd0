// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the user of imprint record typed, and what it means.
#ifndef CLI_RECORD_ARGUMENTS_H
#define CLI_RECORD_ARGUMENTS_H

#include "cli/command.h"
#include "record/recorder.h"
#include "record/sampling.h"

struct record_arguments {
	struct option_list events, cgroups, filters;
	const char *frequency, *call_graph, *branches, *ring, *compress, *delay;
	const char *processes, *threads, *cpus, *output, *switch_output, *capture, *store_dir;
	uint64_t period, max_bytes, switch_files;
	double duration;
	bool is_system_wide, has_chains, has_branches, without_children, is_overwriting;
	bool with_data, with_switches, with_cgroups, with_addresses, is_quiet, ignored;
	bool is_user_only, is_kernel_only, has_user_chain_only, has_kernel_chain_only;
	const char *ignored_text;
	unsigned verbose;
};

// How often samples are taken, and what is in them. IMP_ERR_USAGE says what was expected.
struct imp_error *record_arguments_sampling(const struct record_arguments *arguments,
					    struct sampling *ret) MUST_CHECK;
// All that needs nothing but the words themselves; lent by ARGUMENTS.
struct imp_error *record_arguments_fill(const struct record_arguments *arguments,
					struct record_options *options) MUST_CHECK;

#endif
