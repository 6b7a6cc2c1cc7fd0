// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sizes, times, frequencies and modes out of words.
#include "cli/record_arguments.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS 1000000000.0

// A number with an optional unit out of UNITS ("KMG" in powers of 1024); false when TEXT is none.
static bool read_size(const char *text, uint64_t *ret, char *unit)
{
	static const char letters[] = "BKMG";
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text || text[0] == '-')
		return false;
	*unit = *end;
	char upper = (char)(*end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
	const char *letter = upper ? strchr(letters, upper) : NULL;
	unsigned shift = letter ? 10 * (unsigned)(letter - letters) : 0;
	if (value > UINT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return !*end || (letter && !end[1]);
}

static struct imp_error *read_ring(const struct record_arguments *arguments, size_t *ret)
{
	if (!arguments->ring)
		return NULL;
	uint64_t size, page = (uint64_t)sysconf(_SC_PAGESIZE), rounded = page;
	char unit;
	// "PAGES,AUXPAGES" is perf's; there is no AUX area here.
	_cleanup_free_ char *text = strndup(arguments->ring, strcspn(arguments->ring, ","));
	if (!text)
		return &imp_error_no_memory;
	if (!read_size(text, &size, &unit) || !size || size > UINT64_C(1) << 40)
		return error_new(IMP_ERR_USAGE, "'%s' is not a number of pages", arguments->ring);
	if (!unit)
		size *= page;
	while (rounded < size)
		rounded *= 2;
	if (rounded > UINT32_MAX / 2)
		return error_new(IMP_ERR_USAGE, "a ring of %s is too large", arguments->ring);
	*ret = (size_t)rounded;
	return NULL;
}

static struct imp_error *read_switch(const char *text, struct record_options *options)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	uint64_t value;
	char unit;
	if (!text)
		return NULL;
	options->switch_when = SWITCH_SIGNAL;
	if (!strcmp(text, "signal"))
		return NULL;
	char *end;
	unsigned long long count = strtoull(text, &end, 10);
	for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++) {
		if (*end != units[i].unit || end[1] || !count)
			continue;
		options->switch_when = SWITCH_TIME;
		options->switch_ns = count * units[i].seconds * (uint64_t)SECOND_NS;
		return NULL;
	}
	if (!read_size(text, &value, &unit) || !value || !unit)
		return error_new(IMP_ERR_USAGE,
				 "'%s' does not say when to begin a new file: expected signal, a "
				 "size (100M) or a time (30s, 5m, 1h)",
				 text);
	options->switch_when = SWITCH_SIZE;
	options->switch_bytes = value;
	return NULL;
}

static struct imp_error *read_delay(const char *text, struct record_options *options)
{
	char *end;
	if (!text)
		return NULL;
	long long delay = strtoll(text, &end, 10);
	if (end == text || *end || delay < -1)
		return error_new(IMP_ERR_USAGE, "'%s' is not a number of milliseconds", text);
	options->starts_off = delay == -1;
	if (delay > 0)
		options->delay_ns = (uint64_t)delay * 1000000;
	return NULL;
}

static struct imp_error *read_frequency(const char *text, struct sampling *sampling)
{
	char *end;
	if (!text)
		return NULL;
	if (!strcmp(text, "max")) {
		sampling->is_fastest = true;
		return NULL;
	}
	sampling->frequency = strtoull(text, &end, 10);
	if (end == text || *end || !sampling->frequency || text[0] == '-')
		return error_new(IMP_ERR_USAGE, "'%s' is not a frequency", text);
	return NULL;
}

struct imp_error *record_arguments_sampling(const struct record_arguments *arguments,
					    struct sampling *ret)
{
	struct sampling sampling = {
		.period = arguments->period,
		.with_addresses = arguments->with_addresses,
		.is_user_only = arguments->is_user_only,
		.is_kernel_only = arguments->is_kernel_only,
		.has_user_chain_only = arguments->has_user_chain_only,
		.has_kernel_chain_only = arguments->has_kernel_chain_only,
	};
	if (sampling.is_user_only && sampling.is_kernel_only)
		return error_new(IMP_ERR_USAGE, "--all-user and --all-kernel exclude each other");
	if (sampling.has_user_chain_only && sampling.has_kernel_chain_only)
		return error_new(IMP_ERR_USAGE,
				 "--user-callchains and --kernel-callchains exclude each other");
	if (arguments->has_chains)
		sampling.call_graph = CALL_GRAPH_FP;
	struct imp_error *err = read_frequency(arguments->frequency, &sampling);
	if (!err && arguments->call_graph)
		err = sampling_read_call_graph(arguments->call_graph, &sampling);
	if (!err && (arguments->branches || arguments->has_branches))
		err = sampling_read_branches(arguments->branches ? arguments->branches : "any",
					     &sampling);
	*ret = sampling;
	return err;
}

static struct imp_error *read_capture(const struct record_arguments *arguments,
				      struct record_options *options)
{
	static const char *const names[] = {
		[CAPTURE_NONE] = "none", [CAPTURE_HIT] = "hit", [CAPTURE_ALL] = "all"
	};
	const char *text = arguments->capture ? arguments->capture : "hit";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(text, names[i]))
			continue;
		options->capture = (enum capture)i;
		return NULL;
	}
	return error_new(IMP_ERR_USAGE, "'%s' is none of hit, all and none", text);
}

struct imp_error *record_arguments_fill(const struct record_arguments *arguments,
					struct record_options *options)
{
	struct imp_error *err = read_ring(arguments, &options->ring_bytes);
	if (!err)
		err = read_delay(arguments->delay, options);
	if (!err)
		err = read_switch(arguments->switch_output, options);
	if (!err)
		err = read_capture(arguments, options);
	if (err)
		return err;
	if (arguments->duration < 0)
		return error_new(IMP_ERR_USAGE, "a duration cannot be negative");
	options->duration_ns = (uint64_t)(arguments->duration * SECOND_NS);
	options->zstd_level = arguments->compress ? atoi(arguments->compress) : 0;
	if (arguments->compress && (options->zstd_level < 1 || options->zstd_level > 22))
		return error_new(IMP_ERR_USAGE, "'%s' is not a level of compression (1 to 22)",
				 arguments->compress);
	options->processes = arguments->processes;
	options->threads = arguments->threads;
	options->cpus = arguments->cpus;
	options->cgroups = arguments->cgroups.items;
	options->cgroup_count = arguments->cgroups.count;
	options->is_system_wide = arguments->is_system_wide;
	options->output = arguments->output;
	options->max_bytes = arguments->max_bytes;
	options->switch_files = (unsigned)arguments->switch_files;
	options->is_overwriting = arguments->is_overwriting;
	options->without_children = arguments->without_children;
	options->with_data = arguments->with_addresses;
	options->with_switches = arguments->with_switches;
	options->with_cgroups = arguments->with_cgroups;
	return NULL;
}
