// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Printing stale mappings as text, JSON, for Nagios and for OpenMetrics.
#include "cli/stale_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "cli/printable.h"
#include "environment/snapshot_file.h"

bool stale_has_old_kernel(const struct stale_report *report)
{
	for (size_t i = 0; i < report->kernels.count; i++)
		if (report->kernels.items[i].verdict == STALE_REPLACED)
			return true;
	return false;
}

// "name 1.2", the soname, or "".
struct version_text {
	char text[256];
};

static struct version_text version_of(const struct snapshot_image *image)
{
	struct version_text version = { "" };
	char name[96], number[96];
	if (snapshot_package_member(image, "name", name, sizeof name) &&
	    snapshot_package_member(image, "version", number, sizeof number))
		snprintf(version.text, sizeof version.text, "%s %s", name, number);
	else
		snprintf(version.text, sizeof version.text, "%s", image->soname);
	return version;
}

static void print_date(uint64_t since_ns)
{
	time_t seconds = (time_t)(since_ns / 1000000000);
	struct tm local;
	char text[32];
	if (since_ns && localtime_r(&seconds, &local) &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local))
		printf(" since %s", text);
}

static void print_identity(const struct snapshot_image *image)
{
	struct image_identity identity = snapshot_image_identity(image);
	struct version_text version = version_of(image);
	printf("%s", *identity.text ? identity.text : "no identity");
	if (*version.text) {
		fputs(" (", stdout);
		printable(stdout, version.text);
		putchar(')');
	}
}

static void print_finding(const struct snapshot *snapshot, const struct stale_finding *finding)
{
	const struct snapshot_image *image = &snapshot->images.items[finding->image];
	printf("    %-9s ", stale_verdict_name(finding->verdict));
	printable(stdout, *finding->path ? finding->path : "[jit]");
	if (finding->verdict == STALE_REPLACED) {
		print_date(finding->since_ns);
		printf("\n              loaded  ");
		print_identity(image);
		printf("\n              on disk ");
		print_identity(&finding->now);
	} else if (finding->why) {
		printf(" (%s)", finding->why);
	}
	putchar('\n');
}

static bool is_shown(const struct stale_report *report, const struct stale_use *use, bool show_all)
{
	return show_all || report->findings.items[use->finding].verdict == STALE_REPLACED;
}

static size_t count_shown(const struct stale_report *report, const struct stale_group *group,
			  bool show_all)
{
	size_t count = 0;
	for (size_t i = 0; i < group->use_count; i++)
		count += is_shown(report, &report->uses.items[group->first_use + i], show_all);
	return count;
}

// The processes of a group, then its findings, each once. PRINTED_IN tells for each finding the
// last group, counted from 1, that showed it.
static void print_group(const struct snapshot *snapshot, const struct stale_report *report,
			const struct stale_group *group, bool show_all, size_t *printed_in)
{
	size_t number = (size_t)(group - report->groups.items) + 1;
	const struct stale_use *uses = &report->uses.items[group->first_use];
	printable(stdout, group->name);
	printf("%s%s\n  ", *group->restart ? ": " : "", group->restart);
	uint32_t last = UINT32_MAX;
	for (size_t i = 0; i < group->use_count; i++) {
		if (uses[i].process == last || !is_shown(report, &uses[i], show_all))
			continue;
		last = uses[i].process;
		printf("  %u ", snapshot->processes.items[last].pid);
		printable(stdout, snapshot->processes.items[last].comm);
	}
	putchar('\n');
	for (size_t i = 0; i < group->use_count; i++) {
		if (printed_in[uses[i].finding] == number || !is_shown(report, &uses[i], show_all))
			continue;
		printed_in[uses[i].finding] = number;
		print_finding(snapshot, &report->findings.items[uses[i].finding]);
	}
}

static void print_kernels(const struct stale_report *report)
{
	for (size_t i = 0; i < report->kernels.count; i++) {
		const struct stale_kernel *kernel = &report->kernels.items[i];
		if (kernel->verdict != STALE_REPLACED)
			continue;
		bool is_kernel = !strcmp(kernel->name, "kernel");
		printf("%s %s: reboot\n    stale     running %s %s\n              on disk %s %s\n",
		       is_kernel ? "kernel" : "module", is_kernel ? kernel->running : kernel->name,
		       build_id_text(&kernel->running_id).text, is_kernel ? kernel->running : "",
		       build_id_text(&kernel->installed_id).text, kernel->installed);
	}
}

static void print_sum(const struct snapshot *snapshot, const struct stale_report *report)
{
	printf("%" PRIu64 " of %zu processes run %" PRIu64 " replaced files",
	       report->stale_processes, snapshot->processes.count, report->counts[STALE_REPLACED]);
	static const enum stale_verdict others[] = { STALE_ORPHAN, STALE_TEMPORARY, STALE_JIT,
						     STALE_UNKNOWN };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (report->counts[others[i]])
			printf("; %" PRIu64 " %s", report->counts[others[i]],
			       stale_verdict_name(others[i]));
	if (snapshot->forbidden)
		printf("; %" PRIu64 " processes may not be looked at", snapshot->forbidden);
	putchar('\n');
}

void stale_print_text(const struct snapshot *snapshot, const struct stale_report *report,
		      bool show_all)
{
	_cleanup_free_ size_t *printed_in = calloc(report->findings.count + 1, sizeof *printed_in);
	for (size_t i = 0; printed_in && i < report->groups.count; i++) {
		const struct stale_group *group = &report->groups.items[i];
		if (count_shown(report, group, show_all))
			print_group(snapshot, report, group, show_all, printed_in);
	}
	print_kernels(report);
	print_sum(snapshot, report);
}

static void json_build(struct json *json, const char *key, const struct snapshot_image *image)
{
	json_key(json, key);
	json_begin_object(json);
	bool has_id = !build_id_is_none(&image->id);
	json_member_string(json, "build_id", has_id ? build_id_text(&image->id).text : NULL);
	if (!has_id && image->has_content_hash)
		json_member_string(json, "sha256",
				   snapshot_image_identity(image).text + strlen("sha256:"));
	if (*image->soname)
		json_member_string(json, "soname", image->soname);
	static const char *const members[] = { "name", "version" };
	for (size_t i = 0; i < 2; i++) {
		char value[256];
		if (snapshot_package_member(image, members[i], value, sizeof value))
			json_member_string(json, i ? "package_version" : "package", value);
	}
	json_end_object(json);
}

static void json_process(struct json *json, const struct snapshot_process *process)
{
	json_member_uint(json, "pid", process->pid);
	json_member_string(json, "comm", process->comm);
	json_member_string(json, "exe", process->exe);
	if (*process->user)
		json_member_string(json, "user", process->user);
	if (*process->unit)
		json_member_string(json, "unit", process->unit);
	if (*process->container) {
		json_member_string(json, "runtime", process->runtime);
		json_member_string(json, "container", process->container);
	}
	if (process->start_ns)
		json_member_string(json, "start", time_text_of(process->start_ns).text);
}

static void json_use(struct json *json, const struct snapshot *snapshot,
		     const struct stale_report *report, const struct stale_use *use)
{
	const struct stale_finding *finding = &report->findings.items[use->finding];
	const struct stale_group *group = &report->groups.items[use->group];
	json_begin_object(json);
	json_member_string(json, "verdict", stale_verdict_name(finding->verdict));
	json_member_string(json, "path", finding->path);
	json_build(json, "loaded", &snapshot->images.items[finding->image]);
	if (finding->verdict == STALE_REPLACED) {
		json_build(json, "on_disk", &finding->now);
		if (finding->since_ns)
			json_member_string(json, "since", time_text_of(finding->since_ns).text);
	}
	if (finding->why)
		json_member_string(json, "why", finding->why);
	json_process(json, &snapshot->processes.items[use->process]);
	json_member_string(json, "group", group->name);
	if (*group->restart)
		json_member_string(json, "restart", group->restart);
	json_end_object(json);
}

static void json_kernel(struct json *json, const struct stale_kernel *kernel)
{
	json_begin_object(json);
	json_member_string(json, "name", kernel->name);
	json_member_string(json, "verdict", stale_verdict_name(kernel->verdict));
	json_member_string(json, "running", kernel->running);
	if (!build_id_is_none(&kernel->running_id))
		json_member_string(json, "running_build_id",
				   build_id_text(&kernel->running_id).text);
	json_member_string(json, "installed", kernel->installed);
	if (!build_id_is_none(&kernel->installed_id))
		json_member_string(json, "installed_build_id",
				   build_id_text(&kernel->installed_id).text);
	json_end_object(json);
}

void stale_print_json(const struct snapshot *snapshot, const struct stale_report *report)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-stale");
	json_member_uint(&json, "version", 1);
	json_member_string(&json, "host", snapshot->host);
	json_member_string(&json, "time", time_text_of(snapshot->time_ns).text);
	json_member_uint(&json, "processes", snapshot->processes.count);
	json_member_uint(&json, "stale_processes", report->stale_processes);
	json_member_uint(&json, "forbidden", snapshot->forbidden);
	json_key(&json, "mappings");
	json_begin_array(&json);
	for (size_t i = 0; i < report->uses.count; i++)
		json_use(&json, snapshot, report, &report->uses.items[i]);
	json_end_array(&json);
	json_key(&json, "kernel");
	json_begin_array(&json);
	for (size_t i = 0; i < report->kernels.count; i++)
		json_kernel(&json, &report->kernels.items[i]);
	json_end_array(&json);
	json_end_object(&json);
}

void stale_print_nagios(const struct snapshot *snapshot, const struct stale_report *report)
{
	bool is_kernel_old = stale_has_old_kernel(report);
	printf("IMPRINT %s: %" PRIu64 " of %zu processes run replaced files%s",
	       report->stale_processes || is_kernel_old ? "WARNING" : "OK", report->stale_processes,
	       snapshot->processes.count, is_kernel_old ? ", the kernel is old" : "");
	printf(" | stale_processes=%" PRIu64 ";0 stale_mappings=%" PRIu64 " orphans=%" PRIu64
	       " unknown=%" PRIu64 " kernel=%d;0\n",
	       report->stale_processes, report->counts[STALE_REPLACED],
	       report->counts[STALE_ORPHAN], report->counts[STALE_UNKNOWN], is_kernel_old);
}

// A label's value: backslash, quote and newline are escaped.
static void print_label(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			printf("\\%c", *value);
		else if (*value == '\n')
			printf("\\n");
		else
			putchar(*value);
	}
	putchar('"');
}

static void print_gauge(const char *name, const char *help)
{
	printf("# TYPE %s gauge\n# HELP %s %s\n", name, name, help);
}

void stale_print_openmetrics(const struct snapshot *snapshot, const struct stale_report *report)
{
	print_gauge("imprint_processes", "Processes that were looked at.");
	printf("imprint_processes %zu\n", snapshot->processes.count);
	print_gauge("imprint_stale_processes", "Processes that run a replaced file.");
	printf("imprint_stale_processes %" PRIu64 "\n", report->stale_processes);
	print_gauge("imprint_mappings", "Mapped files by verdict.");
	for (unsigned i = 0; i < STALE_VERDICTS; i++)
		printf("imprint_mappings{verdict=\"%s\"} %" PRIu64 "\n", stale_verdict_name(i),
		       report->counts[i]);
	print_gauge("imprint_stale_group", "Replaced files by what would be restarted.");
	for (size_t i = 0; i < report->groups.count; i++) {
		const struct stale_group *group = &report->groups.items[i];
		size_t count = count_shown(report, group, false);
		if (!count)
			continue;
		printf("imprint_stale_group{");
		print_label("group", group->name);
		printf("} %zu\n", count);
	}
	print_gauge("imprint_stale_kernel", "1 when another kernel than the running is installed.");
	printf("imprint_stale_kernel %d\n# EOF\n", stale_has_old_kernel(report));
}

static bool is_asked_for(const struct snapshot_image *image, const char *root, const char *what)
{
	const char *slash = strrchr(image->path, '/');
	struct image_identity identity = snapshot_image_identity(image);
	bool has_prefix = strlen(what) >= 6 && !strncmp(identity.text, what, strlen(what));
	return has_prefix || !strcmp(image->soname, what) || !strcmp(image->path, what) ||
	       !strcmp(snapshot_path_in_root(root, image->path), what) ||
	       (slash && !strcmp(slash + 1, what));
}

typedef void take_user(void *arg, const struct snapshot_process *process,
		       const struct snapshot_image *image);

static bool each_user(const struct snapshot *snapshot, const char *what, take_user *take, void *arg)
{
	bool is_used = false;
	for (size_t i = 0; i < snapshot->processes.count; i++) {
		const struct snapshot_process *process = &snapshot->processes.items[i];
		uint32_t last = UINT32_MAX;
		for (size_t k = 0; k < process->mapping_count; k++) {
			uint32_t number =
				snapshot->mappings.items[process->first_mapping + k].image;
			const struct snapshot_image *image = &snapshot->images.items[number];
			if (number == last || !is_asked_for(image, process->root, what))
				continue;
			last = number;
			is_used = true;
			take(arg, process, image);
		}
	}
	return is_used;
}

static void print_user(void *arg, const struct snapshot_process *process,
		       const struct snapshot_image *image)
{
	(void)arg;
	struct image_identity identity = snapshot_image_identity(image);
	printf("%7u ", process->pid);
	printable(stdout, process->comm);
	fputs("  ", stdout);
	printable(stdout, stale_group_name(process).text);
	printf("  %s  ", *identity.text ? identity.text : "-");
	printable(stdout, image->path);
	printf("%s\n", image->is_deleted ? " (deleted)" : "");
}

bool stale_uses_text(const struct snapshot *snapshot, const char *what)
{
	return each_user(snapshot, what, print_user, NULL);
}

static void json_user(void *arg, const struct snapshot_process *process,
		      const struct snapshot_image *image)
{
	struct json *json = arg;
	json_begin_object(json);
	json_process(json, process);
	json_member_string(json, "path", image->path);
	json_member_bool(json, "deleted", image->is_deleted);
	json_build(json, "loaded", image);
	json_end_object(json);
}

bool stale_uses_json(const struct snapshot *snapshot, const char *what)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-uses");
	json_member_uint(&json, "version", 1);
	json_key(&json, "uses");
	json_begin_array(&json);
	bool is_used = each_user(snapshot, what, json_user, &json);
	json_end_array(&json);
	json_end_object(&json);
	return is_used;
}
