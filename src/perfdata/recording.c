// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opens a recording and keeps what it says of itself.
#include "perfdata/recording.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/parallel.h"
#include "perfdata/prologue.h"

enum {
	// No feature that is read whole is larger in earnest.
	FEATURE_MOST_BYTES = 64 << 20,
	// Positions of the files of a directory are this many bits apart.
	STREAM_POSITION_BITS = 48,
	STREAMS_MOST = 65536,
};

struct recording {
	char *path;
	struct warnings warnings;
	ARRAY_OF(struct input *) inputs;
	ARRAY_OF(struct stream) streams;
	enum recording_mode mode;
	struct file_header header;
	struct events events;
	struct features features;
	struct feature_sections sections;
	struct build_id_table build_ids;
	struct scan_context context;
};

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->streams.count; i++)
		stream_fini(&recording->streams.items[i]);
	array_fini(&recording->streams);
	for (size_t i = 0; i < recording->inputs.count; i++)
		input_free(recording->inputs.items[i]);
	array_fini(&recording->inputs);
	events_fini(&recording->events);
	features_fini(&recording->features);
	build_id_table_fini(&recording->build_ids);
	warnings_fini(&recording->warnings);
	free(recording->path);
	free(recording);
}
DEFINE_CLEANUP(struct recording *, recording, recording_close)

static const struct input *first_input(const struct recording *recording)
{
	return recording->inputs.items[0];
}

static struct imp_error *add_input(struct recording *recording, const char *path,
				   const char *directory)
{
	struct input **added = array_add(&recording->inputs);
	if (!added)
		return &imp_error_no_memory;
	struct imp_error *err = input_open(path, directory, added);
	if (err)
		recording->inputs.count--;
	return err;
}

static struct imp_error *add_stream(struct recording *recording, const struct input *input,
				    uint64_t start, uint64_t end)
{
	struct stream *stream = array_add(&recording->streams);
	if (!stream)
		return &imp_error_no_memory;
	stream->input = input;
	stream->start = start;
	stream->end = end < start ? start : end;
	stream->first_position = (recording->streams.count - 1) << STREAM_POSITION_BITS;
	stream->swap = recording->header.swap;
	stream->alignment = start & 7;
	stream->compressed_at = NOWHERE;
	recording->context.total += stream->end - stream->start;
	return NULL;
}

// Whether the file goes on behind its DATA with records that its header does not count yet: ours is
// brought up to date while it is written, and has its features only when it is finished.
static bool has_uncounted_records(const struct recording *recording, struct section data)
{
	const struct file_header *header = &recording->header;
	uint64_t bits = 0;
	for (size_t i = 0; i < FEATURE_BITS / 64; i++)
		bits |= header->features[i];
	uint64_t end = data.offset + data.size;
	return !bits && end < first_input(recording)->size && header->attrs.offset < data.offset;
}

// What data section there is, and whether features follow it.
static struct section find_data(struct recording *recording, bool *has_features)
{
	const struct input *input = first_input(recording);
	struct section data = recording->header.data;
	*has_features = false;
	if (!data.size) {
		warnings_add(&recording->warnings,
			     "%s: the recording was not finished (its data size is 0): read from "
			     "offset %" PRIu64 " to the end of the file, without header features",
			     input->path, data.offset);
		data.size = UINT64_MAX;
		return input_clip(input, data);
	}
	struct section there = input_clip(input, data);
	*has_features = there.size == data.size;
	if (*has_features && has_uncounted_records(recording, there)) {
		warnings_add(&recording->warnings,
			     "%s: the recording was not finished: read to the end of the file, "
			     "%" PRIu64 " bytes further than its header says",
			     input->path, input->size - there.offset - there.size);
		*has_features = false;
		there.size = input->size - there.offset;
	} else if (!*has_features)
		warnings_add(&recording->warnings,
			     "%s: cut off at offset %" PRIu64 ": %" PRIu64 " of %" PRIu64
			     " bytes of records are there, header features are lost",
			     input->path, input->size, there.size, data.size);
	return there;
}

static struct imp_error *open_file(struct recording *recording)
{
	const struct input *input = first_input(recording);
	bool has_features = false;
	struct section data = find_data(recording, &has_features);
	struct imp_error *err = file_header_read_attrs(input, &recording->header,
						       &recording->events, &recording->warnings);
	if (!err && has_features)
		err = file_header_read_features(input, &recording->header, data.offset + data.size,
						&recording->sections, &recording->warnings);
	return err ? err : add_stream(recording, input, data.offset, data.offset + data.size);
}

struct imp_error *recording_read_feature(const struct recording *recording, unsigned bit,
					 struct buffer *ret)
{
	if (!features_has(&recording->features, bit))
		return NULL;
	struct section section = input_clip(first_input(recording), recording->sections.at[bit]);
	return input_read(first_input(recording), section.offset, (size_t)section.size, ret);
}

// The payload of feature BIT and a cursor over it.
static struct imp_error *load_feature(const struct recording *recording, unsigned bit,
				      struct buffer *bytes, struct cursor *ret)
{
	struct section section = recording->sections.at[bit];
	if (section.size > FEATURE_MOST_BYTES)
		return error_new(IMP_ERR_BAD_DATA, "has %" PRIu64 " bytes", section.size);
	struct imp_error *err = recording_read_feature(recording, bit, bytes);
	if (err)
		return err;
	*ret = cursor_over(bytes->bytes, bytes->size);
	ret->origin = section.offset;
	ret->swap = recording->header.swap;
	return NULL;
}

// The event that DESCRIBED, at INDEX of its list, tells of: by its first ID; without one, in order.
static struct event *find_event(struct events *events, const struct event *described, size_t index)
{
	if (!described->id_count)
		return index < events->count ? &events->items[index] : NULL;
	const struct event *found = events_by_id(events, described->ids[0]);
	return found ? &events->items[found - events->items] : NULL;
}

static struct imp_error *name_events(struct recording *recording, struct events *described)
{
	// A file whose attrs are lost has them here, too.
	if (!recording->events.count) {
		recording->events = *described;
		*described = (struct events){ 0 };
		return NULL;
	}
	struct imp_error *err = events_index(&recording->events);
	for (size_t i = 0; !err && i < described->count; i++) {
		char **name = &described->items[i].name;
		struct event *event = find_event(&recording->events, &described->items[i], i);
		if (!event || !*name || !**name)
			continue;
		free(event->name);
		event->name = steal(*name);
	}
	return err;
}

static struct imp_error *read_event_desc(struct recording *recording, struct cursor *payload)
{
	struct events described = { 0 };
	struct imp_error *err = feature_read_event_desc(payload, &described);
	if (!err)
		err = name_events(recording, &described);
	events_fini(&described);
	return err;
}

static struct imp_error *take_feature(struct recording *recording, unsigned bit)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct cursor payload;
	struct imp_error *err = load_feature(recording, bit, &bytes, &payload);
	if (err)
		return err;
	if (bit == FEATURE_EVENT_DESC)
		return read_event_desc(recording, &payload);
	if (bit == FEATURE_SIMPLEPERF_META_INFO)
		return feature_read_meta_info(&payload, &recording->events);
	if (bit == FEATURE_BUILD_ID)
		return build_id_table_read(&payload, &recording->build_ids);
	return feature_read(bit, &payload, &recording->features);
}

// Each by itself: a broken one costs that one.
static void take_features(struct recording *recording)
{
	memcpy(recording->features.present, recording->sections.present,
	       sizeof recording->features.present);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (features_has(&recording->features, bit) && feature_is_kept(bit))
			warnings_take(&recording->warnings, take_feature(recording, bit),
				      "%s: feature %s", first_input(recording)->path,
				      feature_name(bit));
}

static struct imp_error *complete_events(struct recording *recording)
{
	for (size_t i = 0; i < recording->events.count; i++) {
		struct event *event = &recording->events.items[i];
		if (!event->name)
			event->name = event_name_of(&event->attr);
		if (!event->name)
			return &imp_error_no_memory;
	}
	if (!recording->events.count)
		warnings_add(&recording->warnings,
			     "%s: no event is described: samples can be counted, not read",
			     first_input(recording)->path);
	return events_index(&recording->events);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;
	return *left < *right ? -1 : *left > *right;
}

// The numbers N of the files data.N in DIRECTORY, ascending.
static struct imp_error *list_data_files(const char *directory, uint32_t **ret, size_t *count)
{
	_cleanup_dir_ DIR *dir = opendir(directory);
	ARRAY_OF(uint32_t) numbers = { 0 };
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		unsigned number;
		int length = 0;
		if (sscanf(entry->d_name, "data.%9u%n", &number, &length) != 1 ||
		    entry->d_name[length] || numbers.count + 1 == STREAMS_MOST)
			continue;
		uint32_t *added = array_add(&numbers);
		if (!added) {
			array_fini(&numbers);
			return &imp_error_no_memory;
		}
		*added = number;
	}
	if (numbers.count)
		qsort(numbers.items, numbers.count, sizeof *numbers.items, compare_numbers);
	*ret = numbers.items;
	*count = numbers.count;
	return NULL;
}

static struct imp_error *add_data_file(struct recording *recording, const char *directory,
				       uint32_t number, const char *temporary)
{
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/data.%u", directory, number) < 0) {
		path = NULL;
		return &imp_error_no_memory;
	}
	struct imp_error *err = add_input(recording, path, temporary);
	if (err) {
		warnings_take(&recording->warnings, err, "left out");
		return NULL;
	}
	const struct input *input = recording->inputs.items[recording->inputs.count - 1];
	return add_stream(recording, input, 0, input->size);
}

static struct imp_error *add_data_files(struct recording *recording, const char *temporary)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	size_t count = 0;
	struct imp_error *err = list_data_files(recording->path, &numbers, &count);
	for (size_t i = 0; !err && i < count; i++)
		err = add_data_file(recording, recording->path, numbers[i], temporary);
	return err;
}

static struct imp_error *open_inputs(struct recording *recording, const char *temporary)
{
	struct stat status;
	bool is_directory = strcmp(recording->path, "-") != 0 && !stat(recording->path, &status) &&
			    S_ISDIR(status.st_mode);
	if (!is_directory)
		return add_input(recording, recording->path, temporary);
	recording->mode = RECORDING_DIRECTORY;
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/data", recording->path) < 0) {
		path = NULL;
		return &imp_error_no_memory;
	}
	return add_input(recording, path, temporary);
}

static struct imp_error *open_all(struct recording *recording, const char *temporary)
{
	struct imp_error *err = open_inputs(recording, temporary);
	if (err)
		return err;
	err = file_header_read(first_input(recording), &recording->header);
	if (err)
		return err;
	if (recording->header.is_pipe) {
		if (recording->mode == RECORDING_FILE)
			recording->mode = RECORDING_PIPE;
		err = add_stream(recording, first_input(recording), recording->header.size,
				 first_input(recording)->size);
	} else {
		err = open_file(recording);
	}
	if (!err)
		err = prologue_read(&recording->streams.items[0], &recording->events,
				    &recording->sections, recording->mode == RECORDING_PIPE,
				    &recording->warnings);
	if (err)
		return err;
	take_features(recording);
	err = complete_events(recording);
	if (!err && recording->mode == RECORDING_DIRECTORY)
		err = add_data_files(recording, temporary);
	return err;
}

struct imp_error *recording_open(const char *path, const struct recording_options *options,
				 struct recording **ret)
{
	static const struct recording_options no_options;
	if (!options)
		options = &no_options;
	_cleanup_(cleanup_recording) struct recording *recording = calloc(1, sizeof *recording);
	if (!recording)
		return &imp_error_no_memory;
	warnings_init(&recording->warnings, options->log);
	recording->context = (struct scan_context){
		.workers = parallel_workers(options->workers),
		.warnings = &recording->warnings,
		.log = options->log,
	};
	recording->path = strdup(path);
	if (!recording->path)
		return &imp_error_no_memory;
	const char *temporary = options->temporary_directory;
	struct imp_error *err = open_all(recording, temporary ? temporary : "/tmp");
	if (err)
		return err;
	*ret = steal(recording);
	return NULL;
}

struct imp_error *recording_scan(struct recording *recording, const struct scan *scan, void *arg)
{
	struct imp_error *err = NULL;
	recording->context.done = 0;
	for (size_t i = 0; !err && i < recording->streams.count; i++)
		err = stream_scan(&recording->streams.items[i], &recording->context, scan, arg);
	return err;
}

static struct imp_error *read_nothing(void *arg, struct chunk *chunk, void **result)
{
	(void)arg, (void)chunk, (void)result;
	return NULL;
}

struct imp_error *recording_visit(struct recording *recording, recording_visitor *visit, void *arg)
{
	return recording_visit_some(recording, NULL, visit, arg);
}

struct imp_error *recording_visit_some(struct recording *recording,
				       const struct visit_filter *filter, recording_visitor *visit,
				       void *arg)
{
	static const struct scan nothing = { .read = read_nothing };
	bool is_scanned = true;
	for (size_t i = 0; i < recording->streams.count; i++)
		is_scanned = is_scanned && recording->streams.items[i].is_scanned;
	if (!is_scanned) {
		struct imp_error *err = recording_scan(recording, &nothing, NULL);
		if (err)
			return err;
	}
	recording->context.done = 0;
	return streams_visit(recording->streams.items, recording->streams.count,
			     &recording->context, filter, visit, arg);
}

unsigned recording_workers(const struct recording *recording)
{
	return recording->context.workers;
}

void recording_compression(const struct recording *recording, uint64_t *records, uint64_t *bytes,
			   uint64_t *inflated_bytes)
{
	*records = *bytes = *inflated_bytes = 0;
	for (size_t i = 0; i < recording->streams.count; i++) {
		*records += recording->streams.items[i].compressed_records;
		*bytes += recording->streams.items[i].compressed_bytes;
		*inflated_bytes += recording->streams.items[i].inflated_bytes;
	}
}

const char *recording_path(const struct recording *recording)
{
	return recording->path;
}

const struct events *recording_events(const struct recording *recording)
{
	return &recording->events;
}

const struct features *recording_features(const struct recording *recording)
{
	return &recording->features;
}

enum recording_mode recording_mode(const struct recording *recording)
{
	return recording->mode;
}

bool recording_is_swapped(const struct recording *recording)
{
	return recording->header.swap;
}

uint64_t recording_size_bytes(const struct recording *recording)
{
	return recording->context.total;
}

size_t recording_warning_count(const struct recording *recording)
{
	return recording->warnings.all.count;
}

const char *recording_warning(const struct recording *recording, size_t index)
{
	return index < recording->warnings.all.count ? recording->warnings.all.items[index] : NULL;
}

size_t recording_build_id_count(const struct recording *recording)
{
	return recording->build_ids.count;
}

const struct build_id_record *recording_build_id(const struct recording *recording, size_t index)
{
	return index < recording->build_ids.count ? &recording->build_ids.items[index] : NULL;
}
