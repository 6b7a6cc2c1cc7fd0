// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Shares by command and object in recordings by other people's recorders, beside those of perf
// 6.12. Where both differ, docs/differences.md tells why and who is right.
#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "harness/tap.h"
#include "render/rows.h"

static const char suffix[] = ".perf612-report-comm-dso";

// What perf does not read at all, or reads something else in.
static const char *const not_comparable[] = {
	// Record types or features that perf refuses.
	"perf_for_build_id_check.data",
	"perf_with_symbols.data.4c0dfe6",
	"perf_with_symbols.data.8571a96",
	"perf_with_symbols.data.8e51145",
	"perf_with_trace_offcpu.data",
	"perf_with_trace_offcpu.data.6d0c5e0",
	"perf_with_trace_offcpu_v2.data",
	"fibo.compressed2.pipe.data",
	// Samples that perf decodes from AUX traces.
	"perf.data.intel_pt-4.14",
	"perf.data.piped.intel_pt-4.14",
	// A chain of more than 127 frames, which perf drops.
	"perf_with_long_callchain.data",
	// Modules without a file, which perf counts as the kernel.
	"perfnew.data",
};

struct share {
	unsigned event;
	char comm[32];
	char object[256];
	double self, total;
	uint64_t samples;
};

struct shares {
	ARRAY_OF(struct share) all;
	bool has_totals;
	// Events that have rows.
	unsigned events;
};

// Adds to the row of the same names.
static void shares_add(struct shares *shares, const struct share *added)
{
	for (size_t i = 0; i < shares->all.count; i++) {
		struct share *share = &shares->all.items[i];
		if (share->event != added->event || strcmp(share->comm, added->comm) != 0 ||
		    strcmp(share->object, added->object) != 0)
			continue;
		share->self += added->self;
		share->total += added->total;
		share->samples += added->samples;
		return;
	}
	struct share *fresh = array_add(&shares->all);
	REQUIRE(fresh);
	*fresh = *added;
}

// Names of one thing in both: generated code that perf calls by its thread; the kernel, which perf
// calls by the file that its symbols might come from, and does not name at all without a record of
// its map.
static void normalize(struct share *share)
{
	if (!strncmp(share->object, "[JIT] tid ", 10) || !strcmp(share->object, "anon"))
		strcpy(share->object, "//anon");
	if (!strcmp(share->object, "[kernel.vmlinux]"))
		strcpy(share->object, "[kernel.kallsyms]");
}

static void copy_trimmed(char *to, size_t room, const char *from, size_t length)
{
	while (length && from[length - 1] == ' ')
		length--;
	snprintf(to, room, "%.*s", (int)length, from);
}

// Where the last two columns begin, from the line of dots below the headings.
struct layout {
	size_t comm, object;
};

static bool read_dots(const char *line, struct layout *layout)
{
	if (strncmp(line, "# ..", 4) != 0)
		return false;
	size_t length = strlen(line);
	while (length && line[length - 1] != '.')
		length--;
	while (length && line[length - 1] == '.')
		length--;
	layout->object = length;
	while (length && line[length - 1] == ' ')
		length--;
	while (length && line[length - 1] == '.')
		length--;
	layout->comm = length;
	return true;
}

enum { MOST_NUMBERS = 16 };

// The numbers before the command: percentages, then counts.
static void read_numbers(const char *line, size_t end, double *percents, size_t *percent_count,
			 uint64_t *counts, size_t *count_count)
{
	*percent_count = *count_count = 0;
	for (const char *at = line; at < line + end;) {
		char *after;
		double number = strtod(at, &after);
		if (after == at)
			break;
		if (*after == '%' && *percent_count < MOST_NUMBERS)
			percents[(*percent_count)++] = number;
		else if (*count_count < MOST_NUMBERS)
			counts[(*count_count)++] = (uint64_t)number;
		at = after + (*after == '%');
		at += strspn(at, " ");
	}
}

// A row of a group of events has a column for each.
static void read_row(struct shares *shares, const char *line, const struct layout *layout,
		     unsigned first_event)
{
	double percents[MOST_NUMBERS];
	uint64_t counts[MOST_NUMBERS];
	size_t percent_count, count_count;
	if (strlen(line) <= layout->object)
		return;
	read_numbers(line, layout->comm, percents, &percent_count, counts, &count_count);
	for (size_t i = 0; i < count_count; i++) {
		struct share share = {
			.event = first_event + (unsigned)i,
			.self = shares->has_totals ? percents[1] : percents[i],
			.total = percents[i],
			.samples = counts[i],
		};
		copy_trimmed(share.comm, sizeof share.comm, line + layout->comm,
			     layout->object - layout->comm);
		copy_trimmed(share.object, sizeof share.object, line + layout->object,
			     strcspn(line + layout->object, "\n"));
		normalize(&share);
		shares_add(shares, &share);
		if (share.event >= shares->events)
			shares->events = share.event + 1;
	}
}

static void read_perfs(const char *path, struct shares *shares)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	size_t room = 0;
	struct layout layout = { 0 };
	unsigned first_event = 0;
	while (getline(&line, &room, file) > 0) {
		if (!strncmp(line, "# Samples:", 10))
			first_event = shares->events;
		else if (strstr(line, "Children") && line[0] == '#')
			shares->has_totals = true;
		else if (line[0] != '#' && line[0] != '\n' && layout.object)
			read_row(shares, line, &layout, first_event);
		else
			read_dots(line, &layout);
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void take_rows(const struct profile *profile, const struct rows *rows, struct shares *shares)
{
	unsigned numbers[64] = { 0 };
	shares->events = 0;
	for (size_t i = 0; i < profile->events.count && i < 64; i++) {
		numbers[i] = shares->events;
		shares->events += rows->ends[i] > rows_begin(rows, (uint32_t)i);
	}
	for (size_t i = 0; i < rows->items.count; i++) {
		const struct row *row = &rows->items.items[i];
		const struct profile_event *event = &profile->events.items[row->event];
		const struct profile_object *object = symbol_object(rows->tree, row->symbol);
		struct share share = {
			.event = numbers[row->event],
			.self = percent(row->self.weight, event->weight),
			.total = percent(row->total.weight, event->weight),
			.samples = row->self.samples,
		};
		const char *comm = profile_string(profile, row->task->comm);
		snprintf(share.comm, sizeof share.comm, "%s", comm ? comm : "");
		snprintf(share.object, sizeof share.object, "%s",
			 object ? image_short_name(object->image.path) : "[unknown]");
		bool is_module = object && object->image.kind == IMAGE_MODULE;
		if (is_module) {
			char module[64];
			module_name_of(object->image.path, module, sizeof module);
			snprintf(share.object, sizeof share.object, "[%s]", module);
		}
		shares_add(shares, &share);
	}
}

static void read_ours(const char *path, struct shares *shares)
{
	struct analysis_options options = { .with_chains = shares->has_totals,
					    .objects_only = true };
	struct call_tree_options tree_options = { .by_comm = true,
						  .leaves_only = !shares->has_totals };
	struct column_list columns = { .count = 0 };
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_(rows_fini) struct rows rows = { 0 };
	REQUIRE_OK(analyze(path, &options, &profile));
	REQUIRE_OK(call_tree_new(profile, &tree_options, &tree));
	REQUIRE_OK(columns_parse("comm,dso", &columns));
	REQUIRE_OK(rows_make(tree, &columns, shares->has_totals, &rows));
	take_rows(profile, &rows, shares);
}

static bool is_near(double a, double b)
{
	return a - b < 0.03 && b - a < 0.03;
}

// perf cuts a command at the width its column had before the name was known.
static bool is_same_comm(const char *ours, const char *perfs)
{
	return !strcmp(ours, perfs) || (strlen(perfs) == 7 && !strncmp(ours, perfs, 7));
}

// The kernel without a record of its map: known by the mode the samples were taken in.
static bool is_same_object(const char *ours, const char *perfs)
{
	return !strcmp(ours, perfs) ||
	       (!strcmp(ours, "[kernel.kallsyms]") && !strcmp(perfs, "[unknown]"));
}

static bool has_equal(const struct shares *ours, const struct share *perfs)
{
	for (size_t i = 0; i < ours->all.count; i++) {
		const struct share *share = &ours->all.items[i];
		if (share->event == perfs->event && share->samples == perfs->samples &&
		    is_same_comm(share->comm, perfs->comm) &&
		    is_same_object(share->object, perfs->object) &&
		    is_near(share->self, perfs->self) &&
		    (!ours->has_totals || is_near(share->total, perfs->total)))
			return true;
	}
	return false;
}

// Single samples that differ, each explained in docs/differences.md.
static bool is_known_difference(const char *file, const struct share *perfs)
{
	static const struct {
		const char *file, *comm, *object;
	} known[] = {
		{ "perf.data.busy.1", "ls", "[kernel.kallsyms]" },
		{ "perf.data.systemwide.5-3.4", "powerd", "[kernel.kallsyms]" },
		{ "perf.data.systemwide.5-3.4", "swapper", "[kernel.kallsyms]" },
		{ "fib-aarch64.perf_data", "fib", "[kernel.kallsyms]" },
		{ "perf_merge1.data", "sleep", "libc.so" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].file, file) && !strcmp(known[i].comm, perfs->comm) &&
		    !strcmp(perfs->object, known[i].object))
			return true;
	return false;
}

static void compare(const char *name, const struct shares *ours, const struct shares *perfs)
{
	if (ours->events != perfs->events)
		tap_fail(__FILE__, __LINE__, "%s: %u events with samples, perf has %u", name,
			 ours->events, perfs->events);
	for (size_t i = 0; i < perfs->all.count; i++) {
		const struct share *share = &perfs->all.items[i];
		// Of a group of events, what was sampled by another of them.
		if (!share->samples && share->total == 0)
			continue;
		if (!has_equal(ours, share) && !is_known_difference(name, share))
			tap_fail(__FILE__, __LINE__,
				 "%s: event %u %s %s: perf has %llu samples, %.2f %%, %.2f %%",
				 name, share->event, share->comm, share->object,
				 (unsigned long long)share->samples, share->total, share->self);
	}
}

static unsigned compared;

static int visit_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	size_t length = strlen(path), end = sizeof suffix - 1;
	if (type != FTW_F || length < end || strcmp(path + length - end, suffix) != 0)
		return 0;
	_cleanup_free_ char *recording = strndup(path, length - end);
	const char *name = recording + where->base;
	for (size_t i = 0; i < sizeof not_comparable / sizeof *not_comparable; i++)
		if (!strcmp(not_comparable[i], name))
			return 0;
	struct shares ours = { .has_totals = false }, perfs = { .has_totals = false };
	read_perfs(path, &perfs);
	// A fuzzer's input in which perf found nothing.
	if (perfs.all.count) {
		ours.has_totals = perfs.has_totals;
		read_ours(recording, &ours);
		compare(name, &ours, &perfs);
		compared++;
	}
	array_fini(&ours.all);
	array_fini(&perfs.all);
	return 0;
}

TEST(shares_by_command_and_object_are_those_of_perf)
{
	const char *shared = tap_shared();
	_cleanup_free_ char *corpus = NULL;
	if (!shared)
		return;
	REQUIRE(asprintf(&corpus, "%s/corpus", shared) > 0);
	compared = 0;
	CHECK(!nftw(corpus, visit_file, 16, FTW_PHYS));
	printf("# %u recordings compared\n", compared);
	CHECK(compared > 40);
}
