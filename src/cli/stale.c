// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint stale: who still runs the old one.
#include <stdio.h>

#include "cli/command.h"
#include "cli/pid_list.h"
#include "cli/places.h"
#include "cli/stale_print.h"
#include "environment/gather.h"
#include "environment/stale.h"

struct stale_command_options {
	struct option_list pids;
	const char *cgroup;
	bool all;
	const char *uses;
	bool json;
	bool nagios;
	bool openmetrics;
	const char *proc_root;
	const char *sys_root;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct stale_command_options, field)  \
	}

static const struct option stale_rows[] = {
	ROW(OPTION_LIST, 'p', "pid", "PID", pids, "only this process (may be repeated; PID,PID…)"),
	ROW(OPTION_TEXT, 0, "cgroup", "PATH", cgroup,
	    "only processes in this control group or below"),
	ROW(OPTION_FLAG, 'a', "all", NULL, all,
	    "show orphans, temporary and run-time code and what is unknown, too"),
	ROW(OPTION_TEXT, 0, "uses", "WHAT", uses,
	    "who runs this soname, path or build ID (or its first digits), old or not"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 0, "nagios", NULL, nagios,
	    "one line and the exit status of a Nagios plugin"),
	ROW(OPTION_FLAG, 0, "openmetrics", NULL, openmetrics, "as OpenMetrics text"),
	ROW(OPTION_TEXT, 0, "proc-root", "DIR", proc_root,
	    "where another machine's or namespace's proc is mounted (/proc)"),
	ROW(OPTION_TEXT, 0, "sys-root", "DIR", sys_root, "where its sysfs is mounted (/sys)"),
	{ .kind = OPTION_END },
};

// Nagios: 0 fine, 1 warning, 3 unknown.
enum { NAGIOS_OK = 0, NAGIOS_WARNING = 1, NAGIOS_UNKNOWN = 3 };

static struct imp_error *check(const struct stale_command_options *options,
			       struct snapshot **snapshot, struct stale_report *report)
{
	struct pid_list pids = { 0 };
	struct imp_error *err = pid_list_take(&options->pids, &pids);
	struct gather_options gather = { .proc_root = options->proc_root,
					 .sys_root = options->sys_root,
					 .pids = pids.items,
					 .pid_count = pids.count,
					 .cgroup = options->cgroup };
	if (!err)
		err = gather_live(&gather, snapshot);
	array_fini(&pids);
	if (!err && options->pids.count && !(*snapshot)->processes.count)
		err = error_new(IMP_ERR_USAGE, "no such process: %s", options->pids.items[0]);
	if (err || options->uses)
		return err;
	_cleanup_free_ char *known_ids = places_known_ids();
	struct stale_options stale = { .known_ids = known_ids,
				       .proc_root = options->proc_root,
				       .sys_root = options->sys_root,
				       .without_kernel = options->pids.count || options->cgroup };
	return stale_check(*snapshot, &stale, report);
}

static int run_uses(const struct stale_command_options *options, const struct snapshot *snapshot)
{
	if (options->json)
		return stale_uses_json(snapshot, options->uses) ? EXIT_DONE : EXIT_DIFFERENT;
	return stale_uses_text(snapshot, options->uses) ? EXIT_DONE : EXIT_DIFFERENT;
}

static int stale_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct stale_command_options *options = invocation->options;
	if (invocation->operands.count ||
	    options->json + options->nagios + options->openmetrics > 1) {
		*err = error_new(IMP_ERR_USAGE, invocation->operands.count
							? "stale takes no operand"
							: "one form of output only");
		return EXIT_USAGE;
	}
	if (options->uses && !*options->uses) {
		*err = error_new(IMP_ERR_USAGE, "--uses needs a soname, path or build ID");
		return EXIT_USAGE;
	}
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	_cleanup_stale_report_ struct stale_report report = { 0 };
	*err = check(options, &snapshot, &report);
	if (*err && options->nagios) {
		printf("IMPRINT UNKNOWN: %s\n", imp_error_message(*err));
		imp_error_free(*err);
		*err = NULL;
		return NAGIOS_UNKNOWN;
	}
	if (*err)
		return EXIT_TROUBLE;
	if (options->uses)
		return run_uses(options, snapshot);
	bool is_stale = report.stale_processes || stale_has_old_kernel(&report);
	if (options->json)
		stale_print_json(snapshot, &report);
	else if (options->nagios)
		stale_print_nagios(snapshot, &report);
	else if (options->openmetrics)
		stale_print_openmetrics(snapshot, &report);
	else
		stale_print_text(snapshot, &report, options->all);
	if (options->openmetrics)
		return EXIT_DONE;
	return options->nagios ? (is_stale ? NAGIOS_WARNING : NAGIOS_OK)
			       : (is_stale ? EXIT_DIFFERENT : EXIT_DONE);
}

const struct command command_stale = {
	.name = "stale",
	.summary = "Show who still runs a build that was replaced",
	.usage = "stale [--all] [--uses WHAT] [--json | --nagios | --openmetrics]",
	.description =
		"The build of each executable mapping is compared with what is at its path in\n"
		"the process's own root now; equal builds are current, whatever their inodes.\n"
		"The exit status is 0 when nothing is stale, 1 when something is, 2 on trouble;\n"
		"with --uses 0 when somebody runs it, 1 when nobody does.",
	.options = stale_rows,
	.options_size = sizeof(struct stale_command_options),
	.run = stale_run,
};
