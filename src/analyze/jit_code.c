// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding dumps by their mappings.
#include "analyze/jit_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/jit_dump.h"
#include "perfdata/record.h"

enum {
	// How much sooner than the mapping of the file its first function may seem to be.
	CLOCKS_DIFFER_BY_NS = 10000000,
	// No more of one recording are kept: a process has one or few.
	MOST_MENTIONS = 4096
};

DEFINE_CLEANUP(struct jit_dump *, jit_dump, jit_dump_free)

void jit_mentions_fini(struct jit_mentions *mentions)
{
	for (size_t i = 0; i < mentions->all.count; i++)
		free(mentions->all.items[i].path);
	array_fini(&mentions->all);
}

// "/…/jit-123.dump": the number in it. False for other names.
static bool number_in(const char *path, uint32_t *ret)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (strncmp(name, "jit-", 4) != 0 || name[4] < '0' || name[4] > '9')
		return false;
	char *end;
	unsigned long number = strtoul(name + 4, &end, 10);
	*ret = (uint32_t)number;
	return number < UINT32_MAX && !strcmp(end, ".dump");
}

struct imp_error *jit_mentions_note(struct jit_mentions *mentions, const struct events *events,
				    const struct record *record)
{
	if (!memmem(record->bytes, record->size, "/jit-", 5) ||
	    mentions->all.count >= MOST_MENTIONS)
		return NULL;
	struct mmap_record map;
	uint32_t number;
	struct imp_error *err = mmap_record_read(record, &map);
	if (err || !number_in(map.path, &number)) {
		// The timeline has told of a damaged one.
		imp_error_free(err);
		return NULL;
	}
	struct jit_mention *mention = array_add(&mentions->all);
	if (!mention)
		return &imp_error_no_memory;
	struct sample_id id = { .time = 0 };
	sample_id_read(events, record, &id);
	mention->pid = map.pid;
	mention->time_ns = id.has_time && id.time != UINT64_MAX ? id.time : 0;
	mention->path = strdup(map.path);
	return mention->path ? NULL : &imp_error_no_memory;
}

// Times of dumps are of CLOCK_MONOTONIC.
static bool has_clock(const struct recording *recording)
{
	const struct events *events = recording_events(recording);
	for (size_t i = 0; i < events->count; i++) {
		const struct event_attr *attr = &events->items[i].attr;
		if (attr_has(attr, ATTR_USE_CLOCKID) && attr->clockid == CLOCK_MONOTONIC)
			return true;
	}
	return false;
}

// Where the dump is that was at PATH: there, or beside the recording. *ret is the caller's, or
// NULL.
static struct imp_error *find_dump(const struct recording *recording, const char *path, char **ret)
{
	const char *of = recording_path(recording);
	const char *slash = strrchr(of, '/');
	int directory = slash ? (int)(slash - of) + 1 : 0;
	const char *name = strrchr(path, '/');
	*ret = NULL;
	if (access(path, F_OK) == 0) {
		*ret = strdup(path);
		return *ret ? NULL : &imp_error_no_memory;
	}
	if (asprintf(ret, "%.*s%s", directory, of, name ? name + 1 : path) < 0)
		return &imp_error_no_memory;
	if (access(*ret, F_OK) != 0) {
		free(*ret);
		*ret = NULL;
	}
	return NULL;
}

// Why DUMP cannot be what MENTION mapped; NULL when it can.
static const char *objection(const struct jit_mention *mention, const struct jit_dump *dump)
{
	uint32_t number = 0;
	number_in(mention->path, &number);
	if (jit_dump_pid(dump) != number)
		return "was written by another process than its name says";
	if (jit_dump_has_arch_times(dump))
		return "counts time by the processor's clock, which cannot be compared";
	// What the header says of time is the wall clock's with V8. Functions come after the
	// mapping; those of a later process with this number are later than all of this one.
	if (jit_dump_placement_count(dump) &&
	    jit_dump_placement(dump, 0)->time_ns + CLOCKS_DIFFER_BY_NS < mention->time_ns)
		return "is older than the process that mapped a file of this name";
	return NULL;
}

static struct imp_error *add_dump(const struct jit_mention *mention, const char *path,
				  const struct jit_dump *dump, struct timeline *timeline)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < jit_dump_placement_count(dump) && !err; i++) {
		const struct jit_placement *placement = jit_dump_placement(dump, i);
		struct generated_code code = { .pid = mention->pid,
					       .time_ns = placement->time_ns,
					       .start = placement->address,
					       .size = placement->size,
					       .offset = placement->offset,
					       .path = path };
		err = timeline_add_code(timeline, &code);
	}
	return err;
}

// Others than the first of one process and path say the same.
static bool was_added(const struct jit_mentions *mentions, size_t index)
{
	const struct jit_mention *mention = &mentions->all.items[index];
	for (size_t i = 0; i < index; i++)
		if (mentions->all.items[i].pid == mention->pid &&
		    !strcmp(mentions->all.items[i].path, mention->path))
			return true;
	return false;
}

static struct imp_error *add_mention(const struct jit_mention *mention,
				     const struct recording *recording, struct timeline *timeline,
				     const struct log *log)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(cleanup_jit_dump) struct jit_dump *dump = NULL;
	struct imp_error *err = find_dump(recording, mention->path, &path);
	if (err)
		return err;
	if (!path) {
		log_message(log, LOG_WARNING,
			    "%s: not here, and not beside the recording: the code of process %u "
			    "has no names",
			    mention->path, mention->pid);
		return NULL;
	}
	err = jit_dump_open(path, &dump);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	const char *why = dump ? objection(mention, dump) : "belongs to another user";
	if (!why && !has_clock(recording))
		why = "has times of CLOCK_MONOTONIC, the recording has not: record with 'imprint "
		      "record' or 'perf record -k mono'";
	if (why) {
		log_message(log, LOG_WARNING, "%s: %s", path, why);
		return NULL;
	}
	return add_dump(mention, path, dump, timeline);
}

struct imp_error *jit_mentions_add(const struct jit_mentions *mentions,
				   const struct recording *recording, struct timeline *timeline,
				   const struct log *log)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < mentions->all.count && !err; i++)
		if (!was_added(mentions, i))
			err = add_mention(&mentions->all.items[i], recording, timeline, log);
	return err;
}
