// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads the metadata records at the beginning of a stream.
#include "perfdata/prologue.h"

#include <inttypes.h>

enum { UPDATE_NAME = 2, EVENT_TYPES_MOST = 1000 };

// A name for the event with this ID. Owned.
struct update {
	uint64_t id;
	char *name;
};

struct prologue {
	struct events *events;
	struct feature_sections *sections;
	ARRAY_OF(struct update) updates;
	unsigned event_types;
};

static void set_section(struct feature_sections *sections, unsigned bit, uint64_t offset,
			uint64_t size)
{
	sections->present[bit / 64] |= UINT64_C(1) << bit % 64;
	sections->at[bit] = (struct section){ offset, size };
}

static struct imp_error *read_attr(struct prologue *prologue, const struct record *record)
{
	struct cursor body = record_body(record);
	struct cursor peek = body;
	cursor_u32(&peek);
	uint32_t size = cursor_u32(&peek);
	struct event_attr attr;
	struct imp_error *err = attr_read(&body, size ? size : 64, &attr);
	return err ? err : event_add_with_ids(prologue->events, &attr, &body, NULL);
}

static struct imp_error *read_feature(struct prologue *prologue, const struct record *record)
{
	struct cursor body = record_body(record);
	uint64_t bit = cursor_u64(&body);
	if (body.failed)
		return cursor_error(&body, "HEADER_FEATURE");
	// The end of the features is marked by an empty one of the number behind the last known to
	// the writer.
	bool is_end = !cursor_left(&body) && bit >= FEATURE_CPU_DOMAIN_INFO;
	if (bit < FEATURE_BITS && !is_end)
		set_section(prologue->sections, (unsigned)bit, body.origin + body.at,
			    cursor_left(&body));
	return NULL;
}

static struct imp_error *read_tracing_data(struct prologue *prologue, const struct record *record)
{
	struct cursor body = record_body(record);
	uint32_t size = cursor_u32(&body);
	if (body.failed)
		return cursor_error(&body, "HEADER_TRACING_DATA");
	bool is_within = size && size <= cursor_left(&body);
	uint64_t offset = is_within ? body.origin + body.at : record->offset + record->size;
	set_section(prologue->sections, FEATURE_TRACING_DATA, offset, size);
	return NULL;
}

static struct imp_error *name_event(struct event *event, const char *name, size_t most)
{
	if (event->name || !most || !*name)
		return NULL;
	event->name = strndup(name, most);
	return event->name ? NULL : &imp_error_no_memory;
}

static struct imp_error *read_event_update(struct prologue *prologue, const struct record *record)
{
	struct cursor body = record_body(record);
	uint64_t type = cursor_u64(&body);
	uint64_t id = cursor_u64(&body);
	if (body.failed)
		return cursor_error(&body, "EVENT_UPDATE");
	if (type != UPDATE_NAME)
		return NULL;
	char *name = strndup((const char *)body.start + body.at, cursor_left(&body));
	struct update *update = name ? array_add(&prologue->updates) : NULL;
	if (!update) {
		free(name);
		return &imp_error_no_memory;
	}
	*update = (struct update){ id, name };
	return NULL;
}

// An update names an event by the first of its IDs. All at once: each by itself would have to go
// through all events.
static struct imp_error *apply_updates(struct prologue *prologue)
{
	struct imp_error *err = prologue->updates.count ? events_index(prologue->events) : NULL;
	for (size_t i = 0; i < prologue->updates.count; i++) {
		struct update *update = &prologue->updates.items[i];
		const struct event *found = err ? NULL : events_by_id(prologue->events, update->id);
		struct event *event =
			found ? &prologue->events->items[found - prologue->events->items] : NULL;
		if (event && !event->name && *update->name)
			event->name = steal(update->name);
		free(update->name);
	}
	array_fini(&prologue->updates);
	return err;
}

// perf before 3.11 named events by their config.
static struct imp_error *read_event_type(struct prologue *prologue, const struct record *record)
{
	struct cursor body = record_body(record);
	uint64_t config = cursor_u64(&body);
	if (body.failed)
		return cursor_error(&body, "HEADER_EVENT_TYPE");
	if (prologue->event_types++ >= EVENT_TYPES_MOST)
		return NULL;
	const char *name = (const char *)body.start + body.at;
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < prologue->events->count; i++)
		if (prologue->events->items[i].attr.config == config)
			err = name_event(&prologue->events->items[i], name, cursor_left(&body));
	return err;
}

static const struct {
	uint32_t type;
	struct imp_error *(*read)(struct prologue *prologue, const struct record *record);
} readers[] = {
	{ RECORD_HEADER_ATTR, read_attr },
	{ RECORD_HEADER_FEATURE, read_feature },
	{ RECORD_HEADER_TRACING_DATA, read_tracing_data },
	{ RECORD_EVENT_UPDATE, read_event_update },
	{ RECORD_HEADER_EVENT_TYPE, read_event_type },
};

static struct imp_error *read_record(struct prologue *prologue, const struct record *record)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (readers[i].type == record->type)
			return readers[i].read(prologue, record);
	return NULL;
}

struct imp_error *prologue_read(struct stream *stream, struct events *events,
				struct feature_sections *sections, bool whole,
				struct warnings *warnings)
{
	struct prologue prologue = { .events = events, .sections = sections };
	struct chunk_room room;
	struct imp_error *err = chunk_room_init(&room, stream->end - stream->start);
	struct chunk chunk = { .stop = CHUNK_END };
	uint64_t from = stream->start;
	bool has_samples = false;
	while (!err && from < stream->end && (whole || !has_samples) && chunk.stop == CHUNK_END) {
		err = stream_load(stream, from, from + PIECE_SIZE, &room, &chunk);
		struct record record = { 0 };
		while (!err && (whole || !has_samples) && chunk_next(&chunk, &record)) {
			if (record.type == RECORD_SAMPLE && !has_samples) {
				stream->alignment = record.offset & 7;
				has_samples = true;
			}
			if (record.type >= RECORD_FIRST_SYNTHETIC)
				warnings_take(warnings, read_record(&prologue, &record),
					      "%s: record at offset %" PRIu64, stream->input->path,
					      record.offset);
		}
		from = chunk_offset(&chunk);
		if (!chunk.size)
			break;
	}
	if (!has_samples)
		stream->alignment = from & 7;
	chunk_room_fini(&room);
	struct imp_error *late = apply_updates(&prologue);
	if (!err)
		return late;
	imp_error_free(late);
	return err;
}
