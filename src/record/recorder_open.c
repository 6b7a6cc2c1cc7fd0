// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From options to open events, a started watch and an output.
#include "record/recorder_parts.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

enum {
	RING_LEAST_BYTES = 1 << 20,
	RING_MOST_BYTES = 16 << 20,
	// Over all CPUs.
	RINGS_MOST_BYTES = 512 << 20,
	META_RING_BYTES = 256 << 10,
	// A sample, and a call chain, roughly.
	SAMPLE_BYTES = 80,
	CHAIN_BYTES = 180,
};

uint64_t recorder_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static struct imp_error *choose_target(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct target *target = &recorder->target;
	struct imp_error *err = target_set_cpus(target, options->cpus);
	if (!err && options->processes)
		err = target_add_processes(target, options->processes);
	if (!err && options->threads)
		err = target_add_threads(target, options->threads);
	for (size_t i = 0; !err && i < options->cgroup_count; i++)
		err = target_add_cgroup(target, options->cgroups[i]);
	if (err)
		return err;
	bool has_threads = target->threads.count;
	target->is_system_wide = options->is_system_wide || target->cgroups.count ||
				 (options->cpus && !has_threads && !options->command);
	if (target->is_system_wide && has_threads)
		return error_new(IMP_ERR_USAGE, "all of the machine and some of its processes "
						"cannot be recorded at once");
	if (!target->is_system_wide && !has_threads && !options->command)
		return error_new(IMP_ERR_USAGE, "nothing to record: give a command, -p, -t or -a");
	return NULL;
}

static struct imp_error *prepare_command(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	if (!options->command)
		return NULL;
	struct launch_options launch = { .argv = options->command,
					 .mask = options->command_mask,
					 .keeps_stdout_free = !strcmp(options->output, "-") };
	struct imp_error *err = launch_prepare(&launch, &recorder->launch);
	struct target *target = &recorder->target;
	if (!err && !target->is_system_wide && !target->threads.count)
		err = target_add_thread(target, (uint32_t)recorder->launch.pid);
	return err;
}

bool recorder_starts_on_exec(const struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	return options->command && !recorder->target.is_system_wide && !options->processes &&
	       !options->threads && !options->delay_ns && !options->starts_off;
}

// Room for what comes in half a second.
static size_t suitable_ring(const struct recorder *recorder)
{
	const struct event_attr *attr = &recorder->options->events[0].attr;
	uint64_t rate = attr_has(attr, ATTR_FREQ) ? attr->sample_period : 0;
	uint64_t chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN ? CHAIN_BYTES : 0;
	uint64_t wanted = rate * (SAMPLE_BYTES + chain + attr->sample_stack_user) / 2;
	size_t size = RING_LEAST_BYTES;
	while (size < wanted && size < RING_MOST_BYTES &&
	       size * 2 * recorder->target.cpus.count <= RINGS_MOST_BYTES)
		size *= 2;
	return size;
}

// perf unwinds copied stacks only through images of which it knows every mapping.
static bool needs_data_mappings(const struct record_options *options)
{
	return options->with_data || options->events[0].attr.sample_type & PERF_SAMPLE_STACK_USER;
}

static struct imp_error *open_events(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	size_t ring = options->ring_bytes ? options->ring_bytes : suitable_ring(recorder);
	struct event_plan plan = { .target = &recorder->target,
				   .events = options->events,
				   .count = options->event_count,
				   .ring_bytes = ring,
				   .meta_ring_bytes = META_RING_BYTES,
				   .is_backward = options->is_overwriting,
				   .starts_on_exec = recorder_starts_on_exec(recorder),
				   .inherits = !options->without_children,
				   .with_data = needs_data_mappings(options),
				   .with_switches = options->with_switches,
				   .with_cgroups = options->with_cgroups };
	struct imp_error *err = event_set_open(&plan, &recorder->set);
	if (err)
		return err;
	recorder->outcome->refusals = recorder->set.refusals;
	for (size_t i = 0; i < recorder->set.samples.count; i++)
		if (recorder->set.samples.items[i].size > recorder->ring_bytes)
			recorder->ring_bytes = recorder->set.samples.items[i].size;
	if (!sample_walk_init(&recorder->walk, options->events[0].attr.sample_type))
		return &imp_error_no_memory;
	recorder->walk.has_branches = options->events[0].attr.sample_type &
				      PERF_SAMPLE_BRANCH_STACK;
	return NULL;
}

static struct imp_error *begin_output(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct series_options series = {
		.output = { .path = options->output,
			    .zstd_level = options->zstd_level,
			    .most_ring_bytes = (uint32_t)recorder->ring_bytes },
		.command_line = options->command_line,
		.command_line_count = options->command_line_count,
		.set = &recorder->set,
		.tracker = recorder->tracker,
		.walk = &recorder->walk,
		.most_files = options->switch_files,
	};
	return series_begin(&recorder->series, &series);
}

// Opens the eyes for images, and the hands that keep them.
static struct imp_error *start_watch(struct recorder *recorder)
{
	struct imp_error *err = proc_open(NULL, &recorder->proc);
	struct synthesize_options options = { .proc = recorder->proc,
					      .with_data = needs_data_mappings(recorder->options),
					      .with_namespaces = true,
					      .see = tracker_see_mapped };
	struct tracker_options tracker = { .proc = recorder->proc,
					   .capture = recorder->options->store
							      ? recorder->options->capture
							      : CAPTURE_NONE,
					   .walk = &recorder->walk,
					   .most_open = recorder->options->most_open };
	if (!err)
		err = tracker_new(&tracker, &recorder->tracker);
	options.see_arg = recorder->tracker;
	recorder->walk.wants_pages = true;
	if (!err && tracker.capture != CAPTURE_NONE)
		err = keeper_start(recorder->tracker, recorder->options->store, &recorder->keeper);
	return err ? err : synthesizer_new(&options, &recorder->synthesizer);
}

struct imp_error *recorder_open(struct recorder *recorder)
{
	struct imp_error *err = choose_target(recorder);
	if (!err)
		err = prepare_command(recorder);
	if (!err)
		err = open_events(recorder);
	if (!err)
		err = start_watch(recorder);
	if (!err)
		err = meta_start(&recorder->set.meta, tracker_see, recorder->tracker,
				 &recorder->meta);
	if (!err)
		err = begin_output(recorder);
	return err;
}
