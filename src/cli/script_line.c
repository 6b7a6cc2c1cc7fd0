// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Printing records as `perf script` does.
//
// Source: the output of perf 6.1. Other than there, the addresses of call chains are those of the
// process everywhere, as in perf 6.12.
#include "cli/script_line.h"

#include <inttypes.h>
#include <stdlib.h>

#include "perfdata/sample.h"

static const char *const field_names[SCRIPT_FIELDS + 1] = {
	[SCRIPT_COMM] = "comm",	      [SCRIPT_TID] = "tid",	      [SCRIPT_PID] = "pid",
	[SCRIPT_CPU] = "cpu",	      [SCRIPT_TIME] = "time",	      [SCRIPT_PERIOD] = "period",
	[SCRIPT_EVENT] = "event",     [SCRIPT_ADDR] = "addr",	      [SCRIPT_IP] = "ip",
	[SCRIPT_SYM] = "sym",	      [SCRIPT_SYMOFF] = "symoff",     [SCRIPT_DSO] = "dso",
	[SCRIPT_SRCLINE] = "srcline", [SCRIPT_BUILD_ID] = "build_id", [SCRIPT_CGROUP] = "cgroup",
	[SCRIPT_REASON] = "reason",
};

const char *script_field_name(unsigned field)
{
	return field < SCRIPT_FIELDS ? field_names[field] : NULL;
}

void script_lines_fini(struct script_lines *lines)
{
	array_fini(&lines->chain.entries);
	deferred_chains_free(lines->deferred);
}

// What stands at the beginning of each line.
struct head {
	uint32_t pid, tid, cpu;
	// Whose name is shown: of a record that tells of a thread, that thread's.
	uint32_t comm_pid, comm_tid;
	uint64_t time, position;
	bool has_tid, has_cpu, has_time;
};

static void print_comm(const struct script_lines *lines, const struct head *head, bool is_padded)
{
	uint64_t time = lines->survey->uses_positions ? head->position : head->time;
	// A task that is gone has -1 for its numbers, and no name.
	const char *comm = NULL;
	if (head->comm_tid != UINT32_MAX)
		comm = timeline_comm(lines->survey->timeline, head->comm_pid, head->comm_tid, time);
	char number[16];
	snprintf(number, sizeof number, ":%d", (int32_t)head->comm_tid);
	if (!comm)
		comm = head->comm_tid ? number : "swapper";
	fprintf(lines->out, is_padded ? "%16s " : "%s ", comm);
}

static void print_time(const struct script_lines *lines, uint64_t time)
{
	enum { NS_A_SECOND = 1000000000 };
	char text[40];
	if (lines->has_nanoseconds)
		snprintf(text, sizeof text, "%5" PRIu64 ".%09" PRIu64, time / NS_A_SECOND,
			 time % NS_A_SECOND);
	else
		snprintf(text, sizeof text, "%5" PRIu64 ".%06" PRIu64, time / NS_A_SECOND,
			 time % NS_A_SECOND / 1000);
	fprintf(lines->out, "%12s: ", text);
}

static void print_head(const struct script_lines *lines, const struct head *head, bool is_padded)
{
	const bool *shows = lines->shows;
	FILE *out = lines->out;
	if (shows[SCRIPT_COMM])
		print_comm(lines, head, is_padded);
	if (shows[SCRIPT_PID] && shows[SCRIPT_TID] && head->has_tid)
		fprintf(out, "%5d/%-5d ", (int32_t)head->pid, (int32_t)head->tid);
	else if (shows[SCRIPT_PID] && head->has_tid)
		fprintf(out, "%5d ", (int32_t)head->pid);
	else if (shows[SCRIPT_TID] && head->has_tid)
		fprintf(out, "%5d ", (int32_t)head->tid);
	if (shows[SCRIPT_CPU] && head->has_cpu)
		fprintf(out, "[%03u] ", head->cpu);
	if (shows[SCRIPT_TIME] && head->has_time)
		print_time(lines, head->time);
}

static void print_source(FILE *out, const struct frame *frame)
{
	if (frame->file)
		fprintf(out, "\n  %s:%u", image_short_name(frame->file), frame->line);
}

static void print_image(const struct script_lines *lines, const struct image *image)
{
	if (lines->shows[SCRIPT_DSO])
		fprintf(lines->out, " (%s)", image ? image->path : "[unknown]");
	bool has_id = image && !build_id_is_none(&image->id) && identity_is_usable(image->identity);
	if (lines->shows[SCRIPT_BUILD_ID] && has_id)
		fprintf(lines->out, " <%s>", build_id_text(&image->id).text);
}

// One function at ADDRESS; NULL when it has no name.
static void print_frame(const struct script_lines *lines, uint64_t address,
			const struct frame *frame, const struct image *image)
{
	const bool *shows = lines->shows;
	FILE *out = lines->out;
	fprintf(out, "%16" PRIx64, address);
	if (shows[SCRIPT_SYM]) {
		fprintf(out, " %s", frame ? frame->function : "[unknown]");
		if (frame && shows[SCRIPT_SYMOFF] && !frame->is_inlined)
			fprintf(out, "+0x%" PRIx64, frame->offset);
	}
	if (frame && frame->is_inlined)
		fputs(" (inlined)", out);
	else
		print_image(lines, image);
	if (frame && shows[SCRIPT_SRCLINE])
		print_source(out, frame);
}

// Why what was at PLACE has no name, and where in the image it is.
static void print_reason(const struct script_lines *lines, const struct place *place,
			 const struct frames *frames, uint64_t offset)
{
	bool is_mapped = place->image != NO_IMAGE;
	enum unknown_reason reason = is_mapped ? frames->unknown : place->reason;
	if (!lines->shows[SCRIPT_REASON] || frames->count || reason == KNOWN)
		return;
	fprintf(lines->out, " [%s", unknown_reason_name(reason));
	if (is_mapped)
		fprintf(lines->out, " at +0x%" PRIx64, offset);
	putc(']', lines->out);
}

// All functions at one entry of a chain, the innermost first.
static struct imp_error *print_entry(struct script_lines *lines, const struct sample *sample,
				     uint64_t time, const struct chain_entry *entry, bool is_chain)
{
	uint64_t back = entry->is_return && entry->address ? 1 : 0;
	struct place place = timeline_locate(lines->survey->timeline, sample->pid, time,
					     entry->cpumode, abs_addr_of(entry->address - back),
					     &lines->cache);
	const struct image *image = NULL;
	struct frames frames = { .count = 0 };
	if (place.image != NO_IMAGE) {
		image = timeline_image(lines->survey->timeline, place.image);
		file_off offset = file_off_of(place.offset.value + back);
		struct imp_error *err = NULL;
		if (lines->shows[SCRIPT_SYM] || lines->shows[SCRIPT_SRCLINE] ||
		    lines->shows[SCRIPT_REASON])
			err = symbolize(lines->symbolizer, image, offset, back, &frames);
		if (err)
			return err;
	}
	uint32_t first = is_chain || !frames.count ? 0 : frames.count - 1;
	for (uint32_t i = first; i < frames.count || i == first; i++) {
		if (is_chain)
			putc('\t', lines->out);
		print_frame(lines, entry->address, frames.count ? &frames.items[i] : NULL, image);
		print_reason(lines, &place, &frames, place.offset.value + back);
		if (is_chain)
			putc('\n', lines->out);
	}
	return NULL;
}

static struct imp_error *print_places(struct script_lines *lines, const struct sample *sample,
				      uint64_t time, bool is_chain)
{
	bool is_missing;
	struct imp_error *err = chain_read(sample, &lines->chain);
	if (!err && is_chain)
		err = deferred_chains_join(lines->deferred, sample, &lines->chain, &is_missing);
	if (!err && lines->walker && is_chain)
		err = stack_walk_extend(lines->walker, sample, time, &lines->chain);
	if (err || !lines->chain.entries.count)
		return err;
	putc(is_chain ? '\n' : ' ', lines->out);
	size_t count = is_chain ? lines->chain.entries.count : 1;
	for (size_t i = 0; i < count && !err; i++)
		err = print_entry(lines, sample, time, &lines->chain.entries.items[i], is_chain);
	return err;
}

static void print_cgroup(const struct script_lines *lines, const struct sample *sample,
			 uint64_t time)
{
	if (!(sample->event->attr.sample_type & SAMPLE_CGROUP))
		return;
	const char *path = timeline_cgroup(lines->survey->timeline, sample->cgroup, time);
	if (path)
		fprintf(lines->out, "%s ", path);
	else
		fprintf(lines->out, "[cgroup %" PRIu64 "] ", sample->cgroup);
}

struct imp_error *script_print_sample(struct script_lines *lines, const struct record *record)
{
	struct sample sample;
	struct imp_error *err = sample_read(lines->survey->events, record, &sample);
	if (err) {
		imp_error_free(err);
		return NULL;
	}
	uint64_t place = lines->survey->uses_positions ? record->position : sample.time;
	if (!sample_choice_takes(lines->choice, lines->survey->timeline, &sample, place))
		return NULL;
	const bool *shows = lines->shows;
	struct head head = {
		.pid = sample.pid,
		.tid = sample.tid,
		.comm_pid = sample.pid,
		.comm_tid = sample.tid,
		.cpu = sample.cpu,
		.time = sample.time,
		.position = record->position,
		.has_tid = sample.has_tid,
		.has_cpu = sample.has_cpu,
		.has_time = sample.has_time,
	};
	bool is_chain = shows[SCRIPT_IP] && !lines->no_chains &&
			sample.event->attr.sample_type & SAMPLE_CALLCHAIN;
	print_head(lines, &head, !is_chain);
	if (shows[SCRIPT_PERIOD])
		fprintf(lines->out, "%10" PRIu64 " ", sample.period);
	if (shows[SCRIPT_EVENT])
		fprintf(lines->out, "%*s: ", lines->event_width, sample.event->name);
	if (shows[SCRIPT_ADDR] && sample.has_addr)
		fprintf(lines->out, "%16" PRIx64 " ", sample.addr);
	uint64_t time = survey_time(lines->survey, record, sample.time);
	if (shows[SCRIPT_CGROUP])
		print_cgroup(lines, &sample, time);
	if (shows[SCRIPT_IP])
		err = print_places(lines, &sample, time, is_chain);
	putc('\n', lines->out);
	return err;
}

struct imp_error *script_print_meta(struct script_lines *lines, const struct record *record)
{
	struct sample_id id = { .time = 0 };
	sample_id_read(lines->survey->events, record, &id);
	struct head head = {
		.pid = id.pid,
		.tid = id.tid,
		.comm_pid = id.pid,
		.comm_tid = id.tid,
		.cpu = id.cpu,
		.time = id.time,
		.position = record->position,
		.has_tid = id.has_tid,
		.has_cpu = id.has_cpu,
		.has_time = id.has_time,
	};
	// These three begin with the thread they tell of; -1 is the kernel.
	bool has_thread = record->type == RECORD_MMAP || record->type == RECORD_MMAP2 ||
			  record->type == RECORD_COMM;
	struct cursor body = record_body(record);
	uint32_t pid = cursor_u32(&body), tid = cursor_u32(&body);
	if (has_thread && !body.failed && pid != UINT32_MAX) {
		head.comm_pid = pid;
		head.comm_tid = tid;
	}
	bool has_chains = id.event && id.event->attr.sample_type & SAMPLE_CALLCHAIN;
	print_head(lines, &head, !lines->shows[SCRIPT_IP] || lines->no_chains || !has_chains);
	fprintf(lines->out, "PERF_RECORD_%s", record_type_name(record->type));
	script_print_body(lines->out, record);
	putc('\n', lines->out);
	return NULL;
}
