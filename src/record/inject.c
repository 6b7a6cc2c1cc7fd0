// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Copying records, and looking at files that may be the recorded ones.
#include "record/inject.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"
#include "live/memory.h"
#include "model/image.h"
#include "perfdata/record_build.h"
#include "perfdata/sample.h"
#include "record/output.h"

#define SECOND_NS INT64_C(1000000000)

// Of base/parallel.h.
enum { WORKERS_MOST = 256 };

// A file that was looked at.
struct looked_at {
	char *path;
	uint32_t major, minor;
	uint64_t inode;
	struct build_id id;
};

struct injection {
	struct recording *recording;
	const struct inject_options *options;
	struct output output;
	struct inject_counts counts;
	ARRAY_OF(struct looked_at) files;
	struct table by_path;
	// Files changed later than this (seconds since 1970) prove nothing.
	int64_t begun_s;
	bool is_this_host;
};

static void injection_fini(struct injection *injection)
{
	for (size_t i = 0; i < injection->files.count; i++)
		free(injection->files.items[i].path);
	array_fini(&injection->files);
	table_fini(&injection->by_path);
	output_close(&injection->output);
}

// What belongs to a stream or to compression, and has its place elsewhere in a file.
static bool is_dropped(uint32_t type)
{
	switch (type) {
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_FEATURE:
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return true;
	case RECORD_EVENT_UPDATE:
		// Names stand in EVENT_DESC; units, scales and CPUs are for `perf stat`.
		return true;
	default:
		return false;
	}
}

// One pass's result: the records of a chunk.
static struct imp_error *read_chunk(void *arg, struct chunk *chunk, void **result)
{
	(void)arg;
	struct buffer *out = calloc(1, sizeof *out);
	struct record record;
	if (!out)
		return &imp_error_no_memory;
	while (chunk_next(chunk, &record))
		if (!is_dropped(record.type))
			buffer_append(out, record.bytes, record.size);
	*result = out;
	return NULL;
}

static void discard_chunk(void *arg, void *result)
{
	(void)arg;
	buffer_fini(result);
	free(result);
}

// The ID of the recorded file, or none when the file at the path is not surely that one.
static struct build_id look_at(const struct injection *injection, const struct mmap_record *mmap)
{
	struct build_id none = { 0 };
	struct stat stat;
	_cleanup_close_ int fd = open(mmap->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return none;
	bool is_recorded = stat.st_ino == mmap->inode && major(stat.st_dev) == mmap->major &&
			   minor(stat.st_dev) == mmap->minor;
	if (!is_recorded || stat.st_ctim.tv_sec >= injection->begun_s ||
	    stat.st_mtim.tv_sec >= injection->begun_s)
		return none;
	return fd_face_id(fd);
}

static struct imp_error *id_of(struct injection *injection, const struct mmap_record *mmap,
			       struct build_id *ret)
{
	uint64_t hash = hash_bytes(mmap->inode, mmap->path, strlen(mmap->path));
	struct table_probe probe = table_probe(&injection->by_path, hash);
	uint32_t number;
	while (table_next(&injection->by_path, &probe, &number)) {
		const struct looked_at *file = &injection->files.items[number];
		if (file->inode == mmap->inode && file->major == mmap->major &&
		    file->minor == mmap->minor && !strcmp(file->path, mmap->path)) {
			*ret = file->id;
			return NULL;
		}
	}
	struct looked_at file = { .path = strdup(mmap->path),
				  .major = mmap->major,
				  .minor = mmap->minor,
				  .inode = mmap->inode,
				  .id = look_at(injection, mmap) };
	struct looked_at *slot = file.path ? array_add(&injection->files) : NULL;
	if (!slot ||
	    !table_insert(&injection->by_path, hash, (uint32_t)injection->files.count - 1)) {
		injection->files.count -= slot != NULL;
		free(file.path);
		return &imp_error_no_memory;
	}
	*slot = file;
	*ret = file.id;
	return NULL;
}

static struct imp_error *give_id(struct injection *injection, const struct record *record,
				 uint8_t *bytes)
{
	struct mmap_record mmap;
	struct imp_error *err = mmap_record_read(record, &mmap);
	if (err) {
		imp_error_free(err);
		return NULL;
	}
	if (image_kind_of(mmap.path, record->misc) != IMAGE_USER)
		return NULL;
	injection->counts.had_id += !build_id_is_none(&mmap.id);
	if (!build_id_is_none(&mmap.id))
		return NULL;
	struct build_id id = { 0 };
	if (injection->is_this_host && mmap.has_inode && mmap.inode &&
	    !injection->options->without_ids)
		err = id_of(injection, &mmap, &id);
	bool is_given = !err && record_set_build_id(bytes, record->size, &id);
	injection->counts.given += is_given;
	injection->counts.left += !is_given;
	return err;
}

static struct imp_error *commit_chunk(void *arg, void *result)
{
	enum { SIZE_AT = 6, HEADER_BYTES = 8 };
	struct injection *injection = arg;
	struct buffer *records = result;
	struct imp_error *err = records->failed ? &imp_error_no_memory : NULL;
	for (size_t at = 0; !err && records->size - at >= HEADER_BYTES;) {
		uint8_t *bytes = records->bytes + at;
		struct record record = { .bytes = bytes };
		uint16_t size;
		memcpy(&record.type, bytes, sizeof record.type);
		memcpy(&record.misc, bytes + 4, sizeof record.misc);
		memcpy(&size, bytes + SIZE_AT, sizeof size);
		record.size = size;
		if (record.type == RECORD_MMAP2)
			err = give_id(injection, &record, bytes);
		injection->counts.records++;
		at += size;
	}
	if (!err)
		err = writer_records(injection->output.writer, records->bytes, records->size);
	discard_chunk(NULL, records);
	return err;
}

// Features are taken over as they are, but for those that tell of the form.
static struct imp_error *copy_features(struct injection *injection)
{
	const struct features *features = recording_features(injection->recording);
	struct imp_error *err = NULL;
	for (unsigned bit = 1; !err && bit < FEATURE_BITS; bit++) {
		_cleanup_buffer_ struct buffer payload = { 0 };
		if (!features_has(features, bit) || bit == FEATURE_EVENT_DESC ||
		    bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT)
			continue;
		err = recording_read_feature(injection->recording, bit, &payload);
		if (!err)
			err = writer_feature(injection->output.writer, bit, payload.bytes,
					     payload.size);
	}
	return err;
}

static struct imp_error *begin(struct injection *injection)
{
	const struct events *events = recording_events(injection->recording);
	ARRAY_OF(struct written_event) written = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < events->count; i++) {
		struct written_event *event = array_add(&written);
		if (event)
			*event = (struct written_event){ .attr = events->items[i].attr,
							 .name = events->items[i].name,
							 .ids = events->items[i].ids,
							 .id_count = events->items[i].id_count };
		else
			err = &imp_error_no_memory;
	}
	if (!err)
		err = writer_begin(injection->output.writer, written.items, written.count);
	array_fini(&written);
	return err;
}

// The times of the records, by worker.
struct span {
	const struct events *events;
	uint64_t first[WORKERS_MOST], last[WORKERS_MOST];
};

static struct imp_error *see_times(void *arg, unsigned worker, struct chunk *chunk)
{
	struct span *span = arg;
	struct record record;
	while (chunk_next(chunk, &record)) {
		struct sample_id id;
		struct sample sample;
		uint64_t time = 0;
		if (record.type == RECORD_SAMPLE) {
			struct imp_error *err = sample_read(span->events, &record, &sample);
			time = err ? 0 : sample.time;
			imp_error_free(err);
		} else if (record.type < RECORD_FIRST_SYNTHETIC) {
			sample_id_read(span->events, &record, &id);
			time = id.has_time ? id.time : 0;
		}
		if (time && (!span->first[worker] || time < span->first[worker]))
			span->first[worker] = time;
		if (time > span->last[worker])
			span->last[worker] = time;
	}
	return NULL;
}

static int64_t clock_s(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec;
}

// When the recording began, by the clock on the wall and rather too early than too late: by its own
// pair of clocks; else by when its file was last written less how long it took, or, as perf's clock
// counts from the start of the machine, by how long that is ago, whichever is earlier.
static int64_t wall_of(const struct recording *recording, uint64_t first_ns, uint64_t last_ns)
{
	enum { MARGIN_S = 5 };
	const struct features *features = recording_features(recording);
	struct stat stat;
	if (features->has_clock_data) {
		int64_t since = (int64_t)(first_ns - features->clock_ns);
		return ((int64_t)features->clock_wall_ns + since) / SECOND_NS - MARGIN_S;
	}
	if (fstatat(AT_FDCWD, recording_path(recording), &stat, 0) || !S_ISREG(stat.st_mode))
		return INT64_MIN;
	int64_t by_file = stat.st_mtim.tv_sec - (int64_t)(last_ns - first_ns) / SECOND_NS;
	int64_t by_clock = clock_s(CLOCK_REALTIME) -
			   (clock_s(CLOCK_MONOTONIC) - (int64_t)first_ns / SECOND_NS);
	return (by_file < by_clock ? by_file : by_clock) - MARGIN_S;
}

static struct imp_error *find_begin(struct injection *injection)
{
	injection->begun_s = INT64_MIN;
	if (injection->options->without_ids || !injection->is_this_host)
		return NULL;
	_cleanup_free_ struct span *span = calloc(1, sizeof *span);
	if (!span)
		return &imp_error_no_memory;
	span->events = recording_events(injection->recording);
	struct imp_error *err = recording_visit(injection->recording, see_times, span);
	uint64_t first = 0, last = 0;
	for (unsigned i = 0; i < WORKERS_MOST; i++) {
		if (span->first[i] && (!first || span->first[i] < first))
			first = span->first[i];
		last = span->last[i] > last ? span->last[i] : last;
	}
	if (!err && first)
		injection->begun_s = wall_of(injection->recording, first, last);
	return err;
}

static struct imp_error *check(const struct recording *recording, const char *output)
{
	struct stat from, to;
	if (recording_is_swapped(recording))
		return error_new(IMP_ERR_UNSUPPORTED,
				 "%s: of the other byte order; it can only be copied as it is",
				 recording_path(recording));
	if (features_has(recording_features(recording), FEATURE_AUXTRACE))
		return error_new(IMP_ERR_UNSUPPORTED, "%s: has AUX traces, which are not copied",
				 recording_path(recording));
	if (!stat(recording_path(recording), &from) && !stat(output, &to) &&
	    from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		return error_new(IMP_ERR_USAGE, "%s: input and output are the same file", output);
	return NULL;
}

struct imp_error *inject(struct recording *recording, const struct inject_options *options,
			 struct inject_counts *ret)
{
	static const struct scan scan = { .read = read_chunk,
					  .commit = commit_chunk,
					  .discard = discard_chunk };
	_cleanup_(injection_fini) struct injection injection = { .recording = recording,
								 .options = options,
								 .output = { .fd = -1 } };
	struct utsname name;
	const char *host = recording_features(recording)->hostname;
	injection.is_this_host = !uname(&name) && host && !strcmp(host, name.nodename);
	struct imp_error *err = check(recording, options->output);
	struct output_options output = { .path = options->output };
	if (!err)
		err = find_begin(&injection);
	if (!err)
		err = output_open(&output, &injection.output);
	if (!err)
		err = copy_features(&injection);
	if (!err)
		err = begin(&injection);
	if (!err)
		err = recording_scan(recording, &scan, &injection);
	if (!err)
		err = writer_finish(injection.output.writer);
	*ret = injection.counts;
	return err;
}
