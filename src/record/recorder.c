// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opens, starts, drains in rounds, stops, finishes.
#include "record/recorder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "record/keeper.h"
#include "record/launch.h"
#include "record/meta.h"
#include "record/module_watch.h"
#include "record/sample_walk.h"
#include "record/series.h"
#include "record/synthesize.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
	RING_LEAST_BYTES = 1 << 20,
	RING_MOST_BYTES = 16 << 20,
	// Over all CPUs.
	RINGS_MOST_BYTES = 512 << 20,
	META_RING_BYTES = 256 << 10,
	// A sample, and a call chain, roughly.
	SAMPLE_BYTES = 80,
	CHAIN_BYTES = 180,
	// What was recorded is on its way to the file after this time at the latest.
	CHECKPOINT_NS = 400 * 1000 * 1000,
	// Modules are looked for so often.
	MODULES_NS = 250 * 1000 * 1000,
	// The reader of rings must run when everybody else wants to.
	READER_NICE = -15,
};

struct recorder {
	const struct record_options *options;
	struct record_outcome *outcome;
	struct target target;
	struct launch launch;
	struct event_set set;
	struct meta *meta;
	struct proc *proc;
	struct synthesizer *synthesizer;
	struct sample_walk walk;
	struct tracker *tracker;
	struct keeper *keeper;
	struct series series;
	struct module_watch modules;
	struct pollfd *polled;
	size_t polled_count;
	struct buffer taken;
	size_t ring_bytes;
	uint64_t checkpoint_ns, end_ns, start_ns, switch_ns;
	bool is_sampling;
	bool is_done;
};

static uint64_t now_ns(void)
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

// The recording is of the command alone and begins with its exec.
static bool starts_on_exec(const struct recorder *recorder)
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
				   .starts_on_exec = starts_on_exec(recorder),
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

static struct imp_error *synthesize_kernel_side(struct recorder *recorder, struct buffer *out)
{
	struct kernel kernel;
	struct kernel_text text;
	struct kernel_modules modules = { 0 };
	struct imp_error *err = synthesize_kernel(recorder->synthesizer, &kernel, &text, out);
	if (err)
		return err;
	recorder->outcome->kernel_is_hidden = !text.start;
	tracker_see_kernel(recorder->tracker, &kernel, &text);
	recorder->walk.kernel_start = text.start;
	recorder->walk.kernel_size = text.end > text.start ? text.end - text.start : 0;
	if (recorder->keeper)
		keeper_keep_kernel(recorder->keeper, &kernel, !text.start);
	err = kernel_modules_read(recorder->proc, NULL, &modules);
	for (size_t i = 0; !err && i < modules.count; i++) {
		synthesize_module(&modules.items[i], NULL, out);
		tracker_see_module(recorder->tracker, &modules.items[i]);
	}
	if (!err && series_is_first(&recorder->series)) {
		recorder->modules.read_ns = now_ns();
		err = module_watch_begin(&recorder->modules, recorder->proc, &modules,
					 recorder->target.cpus.items, recorder->target.cpus.count);
	}
	kernel_modules_fini(&modules);
	return err;
}

// Only the command is recorded, and it has not begun.
static bool is_before_exec(const struct recorder *recorder)
{
	const struct target *target = &recorder->target;
	return recorder->launch.pid && !recorder->launch.has_gone && target->threads.count == 1 &&
	       target->threads.items[0] == (uint32_t)recorder->launch.pid;
}

// The processes that the recording knows to run.
static struct imp_error *synthesize_known(struct recorder *recorder, struct buffer *out)
{
	_cleanup_pids_ struct pids pids = { 0 };
	struct imp_error *err = tracker_pids(recorder->tracker, &pids);
	for (size_t i = 0; !err && i < pids.count; i++)
		err = synthesize_process(recorder->synthesizer, pids.items[i], out);
	return err;
}

// Writes what was there before: at the start, and again at the start of each further file.
static struct imp_error *synthesize(struct recorder *recorder)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	const struct target *target = &recorder->target;
	struct imp_error *err = synthesize_kernel_side(recorder, &out);
	if (!err && target->is_system_wide)
		err = synthesize_processes(recorder->synthesizer, &out);
	else if (!err && is_before_exec(recorder))
		err = synthesize_before_exec(recorder->synthesizer, (uint32_t)recorder->launch.pid,
					     &out);
	else if (!err && series_is_first(&recorder->series))
		err = synthesize_threads(recorder->synthesizer, target->threads.items,
					 target->threads.count, &out);
	else if (!err)
		err = synthesize_known(recorder, &out);
	record_build_plain(&out, RECORD_FINISHED_INIT, 0, NULL, 0);
	if (!err && out.failed)
		err = &imp_error_no_memory;
	if (!err)
		err = writer_records(series_writer(&recorder->series), out.bytes, out.size);
	return err ? err : writer_checkpoint(series_writer(&recorder->series));
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

// Writes what the overwritten rings hold that was not written before.
static struct imp_error *dump_rings(struct recorder *recorder)
{
	struct rings *rings = &recorder->set.samples;
	struct imp_error *err = NULL;
	uint64_t until = recorder->walk.last_ns;
	for (size_t i = 0; !err && i < rings->count && rings->items[i].is_backward; i++) {
		struct ring *ring = &rings->items[i];
		_cleanup_free_ uint8_t *bytes = malloc(ring->size);
		if (!bytes)
			return &imp_error_no_memory;
		perf_event_pause(ring->fd, true);
		size_t size = ring_snapshot(ring, bytes);
		perf_event_pause(ring->fd, false);
		size = sample_walk_newer(bytes, size, until);
		struct iovec part = { bytes, size };
		sample_walk(&recorder->walk, &part, 1);
		if (size)
			err = writer_ring(series_writer(&recorder->series), &part, 1);
	}
	tracker_resolve(recorder->tracker, &recorder->walk.pages);
	return err;
}

// Writes the sample rings; *WROTE is set when there was anything.
static struct imp_error *drain_samples(struct recorder *recorder, bool *wrote)
{
	struct rings *rings = &recorder->set.samples;
	for (size_t i = 0; i < rings->count && !rings->items[i].is_backward; i++) {
		struct iovec parts[2];
		int count;
		size_t size = ring_waiting(&rings->items[i], parts, &count);
		if (!size)
			continue;
		// What was just copied is in the caches.
		struct imp_error *err = writer_ring(series_writer(&recorder->series), parts, count);
		if (err)
			return err;
		sample_walk(&recorder->walk, parts, count);
		ring_consume(&rings->items[i], size);
		*wrote = true;
	}
	return NULL;
}

static void see_module(void *arg, const struct kernel_module *module)
{
	tracker_see_module(arg, module);
}

// Appends what is told of mappings and modules.
static struct imp_error *take_meta(struct recorder *recorder)
{
	uint64_t now = now_ns();
	bool is_due = now >= recorder->modules.read_ns + MODULES_NS;
	struct imp_error *err = meta_take(recorder->meta, &recorder->taken);
	tracker_take(recorder->tracker, &recorder->taken);
	return err ? err
		   : module_watch_look(&recorder->modules, is_due, now, see_module,
				       recorder->tracker, &recorder->taken);
}

// One round: all rings once, what tells of mappings first. Whatever comes later is younger than all
// that was written before the round, which is what FINISHED_ROUND says to readers.
static struct imp_error *drain(struct recorder *recorder)
{
	bool wrote = false;
	recorder->taken.size = 0;
	struct imp_error *err = take_meta(recorder);
	if (!err && recorder->taken.size) {
		wrote = true;
		err = writer_records(series_writer(&recorder->series), recorder->taken.bytes,
				     recorder->taken.size);
	}
	if (!err)
		err = drain_samples(recorder, &wrote);
	tracker_resolve(recorder->tracker, &recorder->walk.pages);
	if (err || !wrote)
		return err;
	_cleanup_buffer_ struct buffer round = { 0 };
	record_build_plain(&round, RECORD_FINISHED_ROUND, 0, NULL, 0);
	return round.failed
		       ? &imp_error_no_memory
		       : writer_records(series_writer(&recorder->series), round.bytes, round.size);
}

// Ends the present file and begins the next, which tells anew what runs.
static struct imp_error *next_file(struct recorder *recorder)
{
	const char *name;
	struct imp_error *err = drain(recorder);
	if (!err)
		err = dump_rings(recorder);
	if (!err)
		err = series_finish(&recorder->series);
	if (!err)
		err = series_next(&recorder->series, &name);
	if (err)
		return err;
	log_message(recorder->options->log, LOG_NOTE, "written: %s", name);
	if (recorder->options->switch_when == SWITCH_TIME)
		recorder->switch_ns = now_ns() + recorder->options->switch_ns;
	return synthesize(recorder);
}

static void set_sampling(struct recorder *recorder, bool is_on)
{
	event_set_enable(&recorder->set, is_on);
	recorder->is_sampling = is_on;
}

// Opens what is polled: the rings, then the signals.
static struct imp_error *begin_poll(struct recorder *recorder)
{
	size_t rings = recorder->set.samples.count;
	recorder->polled_count = rings + 1;
	recorder->polled = calloc(recorder->polled_count, sizeof *recorder->polled);
	if (!recorder->polled)
		return &imp_error_no_memory;
	for (size_t i = 0; i < rings; i++)
		recorder->polled[i] = (struct pollfd){ .fd = recorder->set.samples.items[i].fd,
						       .events = POLLIN };
	recorder->polled[rings] =
		(struct pollfd){ .fd = recorder->options->signal_fd, .events = POLLIN };
	return NULL;
}

static struct imp_error *take_signal(struct recorder *recorder)
{
	struct signalfd_siginfo info;
	if (read(recorder->options->signal_fd, &info, sizeof info) != sizeof info)
		return NULL;
	switch (info.ssi_signo) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
		recorder->outcome->signal = (int)info.ssi_signo;
		recorder->is_done = true;
		return NULL;
	case SIGUSR1:
		recorder->start_ns = 0;
		set_sampling(recorder, !recorder->is_sampling);
		return NULL;
	case SIGUSR2:
		if (recorder->options->is_overwriting ||
		    recorder->options->switch_when != SWITCH_NEVER)
			return next_file(recorder);
		return NULL;
	default:
		return NULL;
	}
}

// Milliseconds until something is due.
static int wait_ms(const struct recorder *recorder, uint64_t now)
{
	uint64_t due = recorder->checkpoint_ns;
	if (recorder->end_ns && recorder->end_ns < due)
		due = recorder->end_ns;
	if (recorder->start_ns && recorder->start_ns < due)
		due = recorder->start_ns;
	if (recorder->switch_ns && recorder->switch_ns < due)
		due = recorder->switch_ns;
	return due > now ? (int)((due - now) / 1000000) + 1 : 0;
}

static void show_progress(const struct recorder *recorder)
{
	char what[128];
	snprintf(what, sizeof what, "recording: %.1f MB, %llu lost, samples",
		 (double)writer_size(series_writer(&recorder->series)) / 1e6,
		 (unsigned long long)recorder->walk.lost);
	log_progress(recorder->options->log, what, recorder->walk.samples, 0);
}

// What is due by the clock.
static struct imp_error *keep_time(struct recorder *recorder, uint64_t now)
{
	if (recorder->end_ns && now >= recorder->end_ns)
		recorder->is_done = true;
	if (recorder->start_ns && now >= recorder->start_ns) {
		recorder->start_ns = 0;
		set_sampling(recorder, true);
	}
	const struct record_options *options = recorder->options;
	bool is_full = options->switch_when == SWITCH_SIZE &&
		       writer_size(series_writer(&recorder->series)) >= options->switch_bytes;
	if (is_full || (recorder->switch_ns && now >= recorder->switch_ns))
		return next_file(recorder);
	if (now < recorder->checkpoint_ns)
		return NULL;
	recorder->checkpoint_ns = now + CHECKPOINT_NS;
	show_progress(recorder);
	return writer_checkpoint(series_writer(&recorder->series));
}

static bool is_over(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	if (options->command && launch_has_ended(&recorder->launch))
		return true;
	if (options->max_bytes && series_size(&recorder->series) >= options->max_bytes)
		return true;
	return !recorder->target.is_system_wide && !options->command &&
	       meta_is_over(recorder->meta);
}

static struct imp_error *loop(struct recorder *recorder)
{
	size_t rings = recorder->polled_count - 1;
	struct imp_error *err = NULL;
	while (!err && !recorder->is_done && !is_over(recorder)) {
		int n = poll(recorder->polled, recorder->polled_count, wait_ms(recorder, now_ns()));
		if (n < 0 && errno != EINTR)
			return error_system(errno, "cannot wait for the rings");
		for (size_t i = 0; n > 0 && i < rings; i++)
			if (recorder->polled[i].revents & (POLLHUP | POLLERR))
				recorder->polled[i].fd = -1;
		if (n > 0 && recorder->polled[rings].revents)
			err = take_signal(recorder);
		if (!err)
			err = drain(recorder);
		if (!err)
			err = keep_time(recorder, now_ns());
	}
	return err;
}

static struct imp_error *start(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	// Needs a permission; without it there are more losses on a busy machine.
	(void)setpriority(PRIO_PROCESS, 0, READER_NICE);
	uint64_t now = now_ns();
	recorder->checkpoint_ns = now + CHECKPOINT_NS;
	if (options->duration_ns)
		recorder->end_ns = now + options->duration_ns;
	if (options->switch_when == SWITCH_TIME)
		recorder->switch_ns = now + options->switch_ns;
	if (options->delay_ns)
		recorder->start_ns = now + options->delay_ns;
	else if (!options->starts_off && !starts_on_exec(recorder))
		set_sampling(recorder, true);
	else
		recorder->is_sampling = !options->starts_off;
	if (!options->command)
		return NULL;
	return launch_go(&recorder->launch, options->command, &recorder->outcome->exit_status);
}

// Waits for the images that are still being kept.
static void finish_keeping(struct recorder *recorder)
{
	if (!recorder->keeper)
		return;
	struct imp_error *err = keeper_finish(recorder->keeper, &recorder->outcome->kept);
	if (err)
		log_message(recorder->options->log, LOG_WARNING, "images are not all kept: %s",
			    imp_error_message(err));
	imp_error_free(err);
}

static struct imp_error *finish(struct recorder *recorder)
{
	struct imp_error *err = drain(recorder);
	finish_keeping(recorder);
	// What was found to be changed in place meanwhile.
	if (!err)
		err = drain(recorder);
	if (!err)
		err = dump_rings(recorder);
	return err ? err : series_finish(&recorder->series);
}

static struct imp_error *record(struct recorder *recorder)
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
	if (!err)
		err = synthesize(recorder);
	if (!err)
		err = begin_poll(recorder);
	if (!err)
		err = start(recorder);
	if (!err)
		err = loop(recorder);
	if (!err) {
		event_set_enable(&recorder->set, false);
		err = finish(recorder);
	}
	return err;
}

static void tell_outcome(struct recorder *recorder, const struct imp_error *err)
{
	struct record_outcome *outcome = recorder->outcome;
	uint64_t counted = event_set_lost(&recorder->set);
	outcome->samples = recorder->walk.samples;
	outcome->lost = counted > recorder->walk.lost ? counted : recorder->walk.lost;
	outcome->has_command = recorder->options->command;
	if (recorder->tracker)
		outcome->images = tracker_count(recorder->tracker);
	outcome->bytes = series_size(&recorder->series);
	if (recorder->synthesizer)
		outcome->forbidden = synthesizer_forbidden(recorder->synthesizer);
	launch_end(&recorder->launch);
	if (recorder->launch.pid && !err)
		outcome->exit_status = launch_exit_status(&recorder->launch);
}

struct imp_error *record_run(const struct record_options *options, struct record_outcome *ret)
{
	*ret = (struct record_outcome){ 0 };
	struct recorder recorder = { .options = options,
				     .outcome = ret,
				     .series = { .output = { .fd = -1 } } };
	struct imp_error *err = record(&recorder);
	if (err && series_writer(&recorder.series))
		imp_error_free(writer_rescue(series_writer(&recorder.series)));
	tell_outcome(&recorder, err);
	meta_free(recorder.meta);
	keeper_free(recorder.keeper);
	series_fini(&recorder.series);
	module_watch_end(&recorder.modules);
	event_set_fini(&recorder.set);
	sample_walk_fini(&recorder.walk);
	synthesizer_free(recorder.synthesizer);
	tracker_free(recorder.tracker);
	proc_free(recorder.proc);
	target_fini(&recorder.target);
	buffer_fini(&recorder.taken);
	free(recorder.polled);
	return err;
}
