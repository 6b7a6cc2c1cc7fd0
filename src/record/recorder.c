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

#include "record/recorder_parts.h"

enum {
	// What was recorded is on its way to the file after this time at the latest.
	CHECKPOINT_NS = 400 * 1000 * 1000,
	// Modules are looked for so often.
	MODULES_NS = 250 * 1000 * 1000,
	// The reader of rings must run when everybody else wants to.
	READER_NICE = -15,
};

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
	uint64_t now = recorder_now_ns();
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
		recorder->switch_ns = recorder_now_ns() + recorder->options->switch_ns;
	return recorder_write_prologue(recorder);
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
		int n = poll(recorder->polled, recorder->polled_count,
			     wait_ms(recorder, recorder_now_ns()));
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
			err = keep_time(recorder, recorder_now_ns());
	}
	return err;
}

static struct imp_error *start(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	// Needs a permission; without it there are more losses on a busy machine.
	(void)setpriority(PRIO_PROCESS, 0, READER_NICE);
	uint64_t now = recorder_now_ns();
	recorder->checkpoint_ns = now + CHECKPOINT_NS;
	if (options->duration_ns)
		recorder->end_ns = now + options->duration_ns;
	if (options->switch_when == SWITCH_TIME)
		recorder->switch_ns = now + options->switch_ns;
	if (options->delay_ns)
		recorder->start_ns = now + options->delay_ns;
	else if (!options->starts_off && !recorder_starts_on_exec(recorder))
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
	struct imp_error *err = recorder_open(recorder);
	if (!err)
		err = recorder_write_prologue(recorder);
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
	if (recorder->meta)
		outcome->lost_meta = meta_lost(recorder->meta);
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
