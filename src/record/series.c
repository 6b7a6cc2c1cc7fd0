// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What stands before and behind the records of a file.
#include "record/series.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/record_build.h"
#include "record/host.h"
#include "record/tracing_data.h"

static bool has_branches(const struct event_set *set)
{
	for (size_t i = 0; i < set->events.count; i++)
		if (set->events.items[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

static struct imp_error *write_tracing_data(struct series *series)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	struct imp_error *err = tracing_data_read(series->options.set, &out);
	return err || !out.size ? err
				: writer_feature(series_writer(series), FEATURE_TRACING_DATA,
						 out.bytes, out.size);
}

static struct imp_error *open_next(struct series *series)
{
	struct imp_error *err = output_open(&series->options.output, &series->output);
	struct writer *writer = series->output.writer;
	if (!err)
		err = host_write_features(writer, series->options.command_line,
					  series->options.command_line_count);
	if (!err && has_branches(series->options.set))
		err = writer_feature(writer, FEATURE_BRANCH_STACK, NULL, 0);
	if (!err)
		err = write_tracing_data(series);
	return err ? err : writer_begin(writer, series->written.items, series->written.count);
}

struct imp_error *series_begin(struct series *series, const struct series_options *options)
{
	series->options = *options;
	struct imp_error *err = event_set_written(options->set, &series->written);
	return err ? err : open_next(series);
}

static struct imp_error *write_sample_time(struct series *series)
{
	const struct sample_walk *walk = series->options.walk;
	struct features features = { .has_sample_time = true,
				     .first_sample_ns = walk->first_ns,
				     .last_sample_ns = walk->last_ns };
	_cleanup_buffer_ struct buffer out = { 0 };
	if (!walk->samples)
		return NULL;
	feature_encode(&features, FEATURE_SAMPLE_TIME, &out);
	return writer_feature(series_writer(series), FEATURE_SAMPLE_TIME, out.bytes, out.size);
}

static struct imp_error *write_build_ids(struct series *series)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	tracker_build_ids(series->options.tracker, &out);
	if (out.failed)
		return &imp_error_no_memory;
	return out.size ? writer_feature(series_writer(series), FEATURE_BUILD_ID, out.bytes,
					 out.size)
			: NULL;
}

// What this recording lacks, in sentences, for whoever reads it elsewhere.
static struct imp_error *write_notes(struct series *series)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	_cleanup_buffer_ struct buffer out = { 0 };
	size_t count = tracker_notes(series->options.tracker, &text);
	for (unsigned what = 0; what < PERF_REFUSALS; what++) {
		if (!perf_was_refused(&series->options.set->refusals, what))
			continue;
		buffer_format(&text, "not recorded: %s", perf_refusal_text(what));
		buffer_append(&text, "", 1);
		count++;
	}
	feature_put_u32(&out, (uint32_t)count);
	for (size_t at = 0; at < text.size; at += strlen((const char *)text.bytes + at) + 1)
		feature_put_string(&out, (const char *)text.bytes + at);
	if (text.failed || out.failed)
		return &imp_error_no_memory;
	return count ? writer_feature(series_writer(series), FEATURE_IMPRINT_NOTES, out.bytes,
				      out.size)
		     : NULL;
}

// How many samples each event lost on each CPU, as records.
static struct imp_error *write_lost(struct series *series)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	const struct event_set *set = series->options.set;
	for (size_t e = 0; e < set->events.count; e++) {
		const struct opened_event *event = &set->events.items[e];
		for (size_t i = 0; i < event->fds.count && !event->is_meta; i++) {
			const struct event_fd *at = &event->fds.items[i];
			uint64_t lost = perf_event_lost(at->fd, &event->attr);
			struct stamp stamp = { .cpu = (uint32_t)at->cpu,
					       .time = series->options.walk->last_ns,
					       .id = event->ids.items[i] };
			if (lost)
				record_build_lost_samples(&out, lost, &stamp);
		}
	}
	if (out.failed)
		return &imp_error_no_memory;
	return out.size ? writer_records(series_writer(series), out.bytes, out.size) : NULL;
}

struct imp_error *series_finish(struct series *series)
{
	struct imp_error *err = write_lost(series);
	if (!err)
		err = write_sample_time(series);
	if (!err)
		err = write_build_ids(series);
	if (!err)
		err = write_notes(series);
	return err ? err : writer_finish(series_writer(series));
}

static void take_oldest_away(struct series *series)
{
	char *oldest = series->aside.items[0];
	unlink(oldest);
	free(oldest);
	series->aside.count--;
	memmove(series->aside.items, series->aside.items + 1,
		series->aside.count * sizeof *series->aside.items);
}

struct imp_error *series_next(struct series *series, const char **name)
{
	_cleanup_free_ char *aside = NULL;
	struct imp_error *err = output_set_aside(&series->output, &aside);
	char **slot = err ? NULL : array_add(&series->aside);
	if (!err && !slot)
		err = &imp_error_no_memory;
	if (err)
		return err;
	*slot = steal(aside);
	*name = *slot;
	if (series->options.most_files && series->aside.count > series->options.most_files)
		take_oldest_away(series);
	series->finished_bytes += writer_size(series_writer(series));
	output_close(&series->output);
	return open_next(series);
}

uint64_t series_size(const struct series *series)
{
	const struct writer *writer = series_writer(series);
	return series->finished_bytes + (writer ? writer_size(writer) : 0);
}

void series_fini(struct series *series)
{
	output_close(&series->output);
	array_fini(&series->written);
	for (size_t i = 0; i < series->aside.count; i++)
		free(series->aside.items[i]);
	array_fini(&series->aside);
}
