// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lays recordings out byte by byte; knows the format by itself, not through src/perfdata.
#include "make/recording.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"

enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16, DEFAULT_ATTR_SIZE = 128 };

struct built_event {
	struct event_attr attr;
	char *name;
	uint64_t *ids;
	size_t id_count;
};

struct recording_builder {
	struct recording_builder_shape shape;
	ARRAY_OF(struct built_event) events;
	struct buffer features[FEATURE_BITS];
	bool has_feature[FEATURE_BITS];
	struct buffer records;
	// What is to be compressed, while that goes on.
	struct buffer plain;
	bool is_compressing;
	ZSTD_CStream *zstd;
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

struct recording_builder *recording_builder_new_of(const struct recording_builder_shape *shape)
{
	struct recording_builder *builder = calloc(1, sizeof *builder);
	must(builder != NULL);
	builder->shape = *shape;
	if (!builder->shape.attr_size)
		builder->shape.attr_size = DEFAULT_ATTR_SIZE;
	return builder;
}

struct recording_builder *recording_builder_new(void)
{
	return recording_builder_new_of(&(struct recording_builder_shape){ 0 });
}

void build_put(const struct recording_builder *builder, struct buffer *buffer, uint64_t value,
	       size_t size)
{
	uint8_t bytes[8];
	for (size_t i = 0; i < size; i++)
		bytes[builder->shape.is_big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	buffer_append(buffer, bytes, size);
	must(!buffer->failed);
}

static void put_zeros(struct buffer *buffer, size_t size)
{
	uint8_t *bytes = size ? buffer_extend(buffer, size) : NULL;
	must(bytes || !size);
	if (bytes)
		memset(bytes, 0, size);
}

static void put_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
	if (size)
		buffer_append(buffer, bytes, size);
	must(!buffer->failed);
}

// A string with its NUL, padded so that SIZE_BEFORE and it are a multiple of ALIGN bytes.
static void put_text(struct buffer *buffer, const char *text, size_t align)
{
	put_bytes(buffer, text, strlen(text) + 1);
	put_zeros(buffer, (align - buffer->size % align) % align);
}

static uint64_t reversed_bits(uint64_t value)
{
	uint64_t reversed = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		reversed |= (value >> bit & 1) << (63 - bit);
	return reversed;
}

// The attr, cut or filled up with zeros to SIZE bytes.
static void put_attr(const struct recording_builder *builder, struct buffer *buffer,
		     const struct event_attr *attr, size_t size)
{
	size_t start = buffer->size;
	const struct {
		uint64_t value;
		size_t size;
	} fields[] = {
		{ attr->type, 4 },
		{ size, 4 },
		{ attr->config, 8 },
		{ attr->sample_period, 8 },
		{ attr->sample_type, 8 },
		{ attr->read_format, 8 },
		{ builder->shape.is_big_endian ? reversed_bits(attr->flags) : attr->flags, 8 },
		{ attr->wakeup, 4 },
		{ attr->bp_type, 4 },
		{ attr->config1, 8 },
		{ attr->config2, 8 },
		{ attr->branch_sample_type, 8 },
		{ attr->sample_regs_user, 8 },
		{ attr->sample_stack_user, 4 },
		{ (uint32_t)attr->clockid, 4 },
		{ attr->sample_regs_intr, 8 },
		{ attr->aux_watermark, 4 },
		{ attr->sample_max_stack, 2 },
		{ 0, 2 },
		{ attr->aux_sample_size, 4 },
		{ attr->aux_action, 4 },
		{ attr->sig_data, 8 },
		{ attr->config3, 8 },
		{ attr->config4, 8 },
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		build_put(builder, buffer, fields[i].value, fields[i].size);
	if (buffer->size - start < size)
		put_zeros(buffer, size - (buffer->size - start));
	buffer->size = start + size;
}

void build_event(struct recording_builder *builder, const struct event_attr *attr, const char *name,
		 const uint64_t *ids, size_t id_count)
{
	struct built_event *event = array_add(&builder->events);
	must(event != NULL);
	event->attr = *attr;
	event->name = name ? strdup(name) : NULL;
	event->ids = calloc(id_count + 1, sizeof *event->ids);
	must(event->ids != NULL);
	for (size_t i = 0; i < id_count; i++)
		event->ids[i] = ids[i];
	event->id_count = id_count;
	if (!builder->shape.is_pipe)
		return;
	struct buffer body = { 0 };
	put_attr(builder, &body, attr, builder->shape.attr_size);
	for (size_t i = 0; i < id_count; i++)
		build_put(builder, &body, ids[i], 8);
	build_record(builder, RECORD_HEADER_ATTR, 0, body.bytes, body.size);
	buffer_fini(&body);
}

void build_bytes(struct recording_builder *builder, const void *bytes, size_t size)
{
	put_bytes(builder->is_compressing ? &builder->plain : &builder->records, bytes, size);
}

void build_record(struct recording_builder *builder, uint32_t type, uint16_t misc, const void *body,
		  size_t size)
{
	struct buffer header = { 0 };
	build_put(builder, &header, type, 4);
	build_put(builder, &header, misc, 2);
	build_put(builder, &header, 8 + size, 2);
	build_bytes(builder, header.bytes, header.size);
	build_bytes(builder, body, size);
	buffer_fini(&header);
}

// Ends BODY with the trailer of the first event and adds it as a record.
static void build_kernel_record(struct recording_builder *builder, uint32_t type, uint16_t misc,
				struct buffer *body, struct built_stamp stamp)
{
	const struct event_attr *attr = builder->events.count ? &builder->events.items[0].attr
							      : &(struct event_attr){ 0 };
	uint64_t bits = attr->flags >> ATTR_SAMPLE_ID_ALL & 1 ? attr->sample_type : 0;
	if (bits & SAMPLE_TID) {
		build_put(builder, body, stamp.pid, 4);
		build_put(builder, body, stamp.tid, 4);
	}
	if (bits & SAMPLE_TIME)
		build_put(builder, body, stamp.time, 8);
	if (bits & SAMPLE_ID)
		build_put(builder, body, stamp.id, 8);
	if (bits & SAMPLE_STREAM_ID)
		build_put(builder, body, stamp.id, 8);
	if (bits & SAMPLE_CPU) {
		build_put(builder, body, stamp.cpu, 4);
		build_put(builder, body, 0, 4);
	}
	if (bits & SAMPLE_IDENTIFIER)
		build_put(builder, body, stamp.id, 8);
	build_record(builder, type, misc, body->bytes, body->size);
	buffer_fini(body);
}

static void put_mapping(struct recording_builder *builder, struct buffer *body,
			const struct mmap_record *map)
{
	build_put(builder, body, map->pid, 4);
	build_put(builder, body, map->tid, 4);
	build_put(builder, body, map->start, 8);
	build_put(builder, body, map->length, 8);
	build_put(builder, body, map->page_offset, 8);
}

void build_mmap(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		const struct mmap_record *map)
{
	struct buffer body = { 0 };
	put_mapping(builder, &body, map);
	put_text(&body, map->path, 8);
	uint16_t misc = (uint16_t)(cpumode | (map->is_data ? MISC_MMAP_DATA : 0));
	build_kernel_record(builder, RECORD_MMAP, misc, &body, stamp);
}

void build_mmap2(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		 const struct mmap_record *map)
{
	struct buffer body = { 0 };
	put_mapping(builder, &body, map);
	uint16_t misc = (uint16_t)(cpumode | (map->is_data ? MISC_MMAP_DATA : 0));
	if (map->id.size) {
		misc = (uint16_t)(misc | MISC_MMAP_BUILD_ID);
		build_put(builder, &body, map->id.size, 1);
		put_zeros(&body, 3);
		put_bytes(&body, map->id.bytes, 20);
	} else {
		build_put(builder, &body, map->major, 4);
		build_put(builder, &body, map->minor, 4);
		build_put(builder, &body, map->inode, 8);
		build_put(builder, &body, map->generation, 8);
	}
	build_put(builder, &body, map->prot, 4);
	build_put(builder, &body, map->flags, 4);
	put_text(&body, map->path, 8);
	build_kernel_record(builder, RECORD_MMAP2, misc, &body, stamp);
}

void build_comm(struct recording_builder *builder, struct built_stamp stamp,
		const struct comm_record *comm)
{
	struct buffer body = { 0 };
	build_put(builder, &body, comm->pid, 4);
	build_put(builder, &body, comm->tid, 4);
	put_text(&body, comm->comm, 8);
	build_kernel_record(builder, RECORD_COMM, comm->is_exec ? MISC_COMM_EXEC : 0, &body, stamp);
}

static void build_task(struct recording_builder *builder, uint32_t type, struct built_stamp stamp,
		       const struct task_record *task)
{
	struct buffer body = { 0 };
	build_put(builder, &body, task->pid, 4);
	build_put(builder, &body, task->parent_pid, 4);
	build_put(builder, &body, task->tid, 4);
	build_put(builder, &body, task->parent_tid, 4);
	build_put(builder, &body, task->time, 8);
	build_kernel_record(builder, type, 0, &body, stamp);
}

void build_fork(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task)
{
	build_task(builder, RECORD_FORK, stamp, task);
}

void build_exit(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task)
{
	build_task(builder, RECORD_EXIT, stamp, task);
}

void build_ksymbol(struct recording_builder *builder, struct built_stamp stamp,
		   const struct ksymbol_record *symbol)
{
	struct buffer body = { 0 };
	build_put(builder, &body, symbol->start, 8);
	build_put(builder, &body, symbol->length, 4);
	build_put(builder, &body, symbol->type, 2);
	build_put(builder, &body, symbol->is_unregister, 2);
	put_text(&body, symbol->name, 8);
	build_kernel_record(builder, RECORD_KSYMBOL, 0, &body, stamp);
}

void build_cgroup(struct recording_builder *builder, struct built_stamp stamp,
		  const struct cgroup_record *cgroup)
{
	struct buffer body = { 0 };
	build_put(builder, &body, cgroup->id, 8);
	put_text(&body, cgroup->path, 8);
	build_kernel_record(builder, RECORD_CGROUP, 0, &body, stamp);
}

void build_namespaces(struct recording_builder *builder, struct built_stamp stamp, uint32_t pid,
		      uint32_t tid, const uint64_t (*links)[2], size_t count)
{
	struct buffer body = { 0 };
	build_put(builder, &body, pid, 4);
	build_put(builder, &body, tid, 4);
	build_put(builder, &body, count, 8);
	for (size_t i = 0; i < count; i++) {
		build_put(builder, &body, links[i][0], 8);
		build_put(builder, &body, links[i][1], 8);
	}
	build_kernel_record(builder, RECORD_NAMESPACES, 0, &body, stamp);
}

void build_lost(struct recording_builder *builder, struct built_stamp stamp, uint64_t id,
		uint64_t lost)
{
	struct buffer body = { 0 };
	build_put(builder, &body, id, 8);
	build_put(builder, &body, lost, 8);
	build_kernel_record(builder, RECORD_LOST, 0, &body, stamp);
}

void build_lost_samples(struct recording_builder *builder, struct built_stamp stamp, uint64_t lost)
{
	struct buffer body = { 0 };
	build_put(builder, &body, lost, 8);
	build_kernel_record(builder, RECORD_LOST_SAMPLES, 0, &body, stamp);
}

void build_finished_round(struct recording_builder *builder)
{
	build_record(builder, RECORD_FINISHED_ROUND, 0, NULL, 0);
}

static void put_words(const struct recording_builder *builder, struct buffer *body,
		      const uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		build_put(builder, body, words[i], 8);
}

static void put_fixed_fields(const struct recording_builder *builder, struct buffer *body,
			     uint64_t bits, const struct built_sample *sample)
{
	const struct {
		uint64_t bit, value;
		uint32_t second;
		bool is_pair;
	} fields[] = {
		{ SAMPLE_IDENTIFIER, sample->id, 0, false },
		{ SAMPLE_IP, sample->ip, 0, false },
		{ SAMPLE_TID, sample->pid, sample->tid, true },
		{ SAMPLE_TIME, sample->time, 0, false },
		{ SAMPLE_ADDR, sample->addr, 0, false },
		{ SAMPLE_ID, sample->id, 0, false },
		{ SAMPLE_STREAM_ID, sample->stream_id, 0, false },
		{ SAMPLE_CPU, sample->cpu, 0, true },
		{ SAMPLE_PERIOD, sample->period, 0, false },
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (!(bits & fields[i].bit))
			continue;
		build_put(builder, body, fields[i].value, fields[i].is_pair ? 4 : 8);
		if (fields[i].is_pair)
			build_put(builder, body, fields[i].second, 4);
	}
}

static void put_user_side(const struct recording_builder *builder, struct buffer *body,
			  const struct event_attr *attr, const struct built_sample *sample)
{
	if (attr->sample_type & SAMPLE_REGS_USER) {
		build_put(builder, body, sample->user_abi, 8);
		if (sample->user_abi)
			put_words(builder, body, sample->user_regs,
				  (uint64_t)__builtin_popcountll(attr->sample_regs_user));
	}
	if (attr->sample_type & SAMPLE_STACK_USER) {
		build_put(builder, body, sample->stack_size, 8);
		put_bytes(body, sample->stack, sample->stack_size);
		if (sample->stack_size)
			build_put(builder, body, sample->stack_valid, 8);
	}
}

void build_sample(struct recording_builder *builder, size_t event,
		  const struct built_sample *sample)
{
	const struct event_attr *attr = &builder->events.items[event].attr;
	uint64_t bits = attr->sample_type;
	struct buffer body = { 0 };
	put_fixed_fields(builder, &body, bits, sample);
	if (bits & SAMPLE_CALLCHAIN) {
		build_put(builder, &body, sample->chain_count, 8);
		put_words(builder, &body, sample->chain, sample->chain_count);
	}
	if (bits & SAMPLE_RAW) {
		build_put(builder, &body, sample->raw_size, 4);
		put_bytes(&body, sample->raw, sample->raw_size);
	}
	if (bits & SAMPLE_BRANCH_STACK) {
		build_put(builder, &body, sample->branch_count, 8);
		put_words(builder, &body, sample->branches, 3 * sample->branch_count);
	}
	put_user_side(builder, &body, attr, sample);
	if (bits & SAMPLE_WEIGHT)
		build_put(builder, &body, sample->weight, 8);
	build_record(builder, RECORD_SAMPLE, sample->misc, body.bytes, body.size);
	buffer_fini(&body);
}

// The body of a build-ID entry, behind its header.
static void put_build_id(const struct recording_builder *builder, struct buffer *body,
			 const struct build_id_record *entry)
{
	build_put(builder, body, (uint32_t)entry->pid, 4);
	put_bytes(body, entry->id.bytes, 20);
	build_put(builder, body, entry->is_padded ? 0 : entry->id.size, 1);
	put_zeros(body, 3);
	put_text(body, entry->path, 4);
	put_zeros(body, (8 - (8 + body->size) % 8) % 8);
}

static uint16_t build_id_misc(const struct build_id_record *entry)
{
	return (uint16_t)(entry->misc | (entry->is_padded ? 0 : MISC_BUILD_ID_SIZE));
}

void build_build_id(struct recording_builder *builder, const struct build_id_record *entry)
{
	struct buffer body = { 0 };
	put_build_id(builder, &body, entry);
	build_record(builder, RECORD_HEADER_BUILD_ID, build_id_misc(entry), body.bytes, body.size);
	buffer_fini(&body);
}

void build_table_entry(struct recording_builder *builder, const struct build_id_record *entry)
{
	struct buffer *table = &builder->features[FEATURE_BUILD_ID];
	struct buffer body = { 0 };
	put_build_id(builder, &body, entry);
	build_put(builder, table, 0, 4);
	build_put(builder, table, build_id_misc(entry), 2);
	build_put(builder, table, 8 + body.size, 2);
	put_bytes(table, body.bytes, body.size);
	builder->has_feature[FEATURE_BUILD_ID] = true;
	buffer_fini(&body);
}

void build_compressed_begin(struct recording_builder *builder)
{
	builder->is_compressing = true;
	if (!builder->zstd) {
		builder->zstd = ZSTD_createCStream();
		must(builder->zstd && !ZSTD_isError(ZSTD_initCStream(builder->zstd, 1)));
	}
}

static void put_compressed(struct recording_builder *builder, uint32_t type, const uint8_t *bytes,
			   size_t size)
{
	static uint8_t room[60000];
	ZSTD_inBuffer in = { bytes, size, 0 };
	ZSTD_outBuffer out = { room, sizeof room, 0 };
	must(!ZSTD_compressStream2(builder->zstd, &out, &in, ZSTD_e_flush) && in.pos == size);
	struct buffer body = { 0 };
	if (type == RECORD_COMPRESSED2)
		build_put(builder, &body, out.pos, 8);
	put_bytes(&body, room, out.pos);
	if (type == RECORD_COMPRESSED2)
		put_zeros(&body, (8 - body.size % 8) % 8);
	build_record(builder, type, 0, body.bytes, body.size);
	buffer_fini(&body);
}

void build_compressed_end(struct recording_builder *builder, uint32_t type, size_t step)
{
	builder->is_compressing = false;
	for (size_t at = 0; at < builder->plain.size; at += step)
		put_compressed(builder, type, builder->plain.bytes + at,
			       builder->plain.size - at < step ? builder->plain.size - at : step);
	builder->plain.size = 0;
}

void build_feature(struct recording_builder *builder, unsigned bit, const void *payload,
		   size_t size)
{
	if (!builder->shape.is_pipe) {
		put_bytes(&builder->features[bit], payload, size);
		builder->has_feature[bit] = true;
		return;
	}
	struct buffer body = { 0 };
	build_put(builder, &body, bit, 8);
	put_bytes(&body, payload, size);
	if (builder->shape.has_aligned_features)
		put_zeros(&body, (8 - body.size % 8) % 8);
	build_record(builder, RECORD_HEADER_FEATURE, 0, body.bytes, body.size);
	buffer_fini(&body);
}

static void put_string(const struct recording_builder *builder, struct buffer *buffer,
		       const char *text)
{
	size_t size = (strlen(text) + 1 + 63) / 64 * 64;
	build_put(builder, buffer, size, 4);
	put_bytes(buffer, text, strlen(text));
	put_zeros(buffer, size - strlen(text));
}

void build_string_feature(struct recording_builder *builder, unsigned bit, const char *text)
{
	struct buffer payload = { 0 };
	put_string(builder, &payload, text);
	build_feature(builder, bit, payload.bytes, payload.size);
	buffer_fini(&payload);
}

void build_event_desc(struct recording_builder *builder)
{
	struct buffer payload = { 0 };
	build_put(builder, &payload, builder->events.count, 4);
	build_put(builder, &payload, builder->shape.attr_size, 4);
	for (size_t i = 0; i < builder->events.count; i++) {
		const struct built_event *event = &builder->events.items[i];
		put_attr(builder, &payload, &event->attr, builder->shape.attr_size);
		build_put(builder, &payload, event->id_count, 4);
		put_string(builder, &payload, event->name ? event->name : "");
		put_words(builder, &payload, event->ids, event->id_count);
	}
	build_feature(builder, FEATURE_EVENT_DESC, payload.bytes, payload.size);
	buffer_fini(&payload);
}

// The attrs section, whose IDs begin at IDS_AT.
static struct buffer lay_out_attrs(const struct recording_builder *builder, uint64_t ids_at)
{
	struct buffer attrs = { 0 };
	for (size_t i = 0; i < builder->events.count; i++) {
		const struct built_event *event = &builder->events.items[i];
		put_attr(builder, &attrs, &event->attr, builder->shape.attr_size);
		build_put(builder, &attrs, ids_at, 8);
		build_put(builder, &attrs, 8 * event->id_count, 8);
		ids_at += 8 * event->id_count;
	}
	return attrs;
}

// The table of features, then the features, which begin at AT.
static struct buffer lay_out_features(const struct recording_builder *builder, uint64_t at)
{
	struct buffer table = { 0 }, payloads = { 0 };
	size_t count = 0;
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		count += builder->has_feature[bit];
	at += 16 * count;
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!builder->has_feature[bit])
			continue;
		build_put(builder, &table, at + payloads.size, 8);
		build_put(builder, &table, builder->features[bit].size, 8);
		put_bytes(&payloads, builder->features[bit].bytes, builder->features[bit].size);
	}
	put_bytes(&table, payloads.bytes, payloads.size);
	buffer_fini(&payloads);
	return table;
}

// Where everything of a file stands.
struct layout {
	uint64_t ids_at, attrs_at, data_at, data_size;
};

static void put_file_header(const struct recording_builder *builder, struct buffer *file,
			    const struct layout *layout, size_t attrs_size)
{
	if (builder->shape.is_version_1)
		put_bytes(file, "PERFFILE", 8);
	else
		build_put(builder, file, UINT64_C(0x32454c4946524550), 8);
	build_put(builder, file, HEADER_SIZE, 8);
	build_put(builder, file, builder->shape.attr_size + 16, 8);
	build_put(builder, file, layout->attrs_at, 8);
	build_put(builder, file, attrs_size, 8);
	build_put(builder, file, layout->data_at, 8);
	build_put(builder, file, builder->shape.is_unfinished ? 0 : layout->data_size, 8);
	put_zeros(file, 16);
	for (unsigned word = 0; word < FEATURE_BITS / 64; word++) {
		uint64_t bits = 0;
		for (unsigned bit = 0; bit < 64; bit++)
			bits |= (uint64_t)builder->has_feature[64 * word + bit] << bit;
		build_put(builder, file, bits, 8);
	}
}

static struct buffer lay_out_file(const struct recording_builder *builder)
{
	struct buffer ids = { 0 }, file = { 0 };
	for (size_t i = 0; i < builder->events.count; i++)
		put_words(builder, &ids, builder->events.items[i].ids,
			  builder->events.items[i].id_count);
	uint64_t attrs_size = (builder->shape.attr_size + 16) * builder->events.count;
	struct layout layout = { .data_size = builder->records.size };
	layout.data_at = HEADER_SIZE + (builder->shape.has_attrs_last ? 0 : ids.size + attrs_size);
	struct buffer features = { 0 };
	if (!builder->shape.is_unfinished)
		features = lay_out_features(builder, layout.data_at + layout.data_size);
	layout.ids_at = builder->shape.has_attrs_last
				? layout.data_at + layout.data_size + features.size
				: HEADER_SIZE;
	layout.attrs_at = layout.ids_at + ids.size;
	struct buffer attrs = lay_out_attrs(builder, layout.ids_at);
	put_file_header(builder, &file, &layout, attrs.size);
	put_bytes(&ids, attrs.bytes, attrs.size);
	if (!builder->shape.has_attrs_last)
		put_bytes(&file, ids.bytes, ids.size);
	put_bytes(&file, builder->records.bytes, builder->records.size);
	put_bytes(&file, features.bytes, features.size);
	if (builder->shape.has_attrs_last)
		put_bytes(&file, ids.bytes, ids.size);
	buffer_fini(&ids);
	buffer_fini(&attrs);
	buffer_fini(&features);
	return file;
}

static struct buffer lay_out_pipe(const struct recording_builder *builder)
{
	struct buffer pipe = { 0 };
	build_put(builder, &pipe, UINT64_C(0x32454c4946524550), 8);
	build_put(builder, &pipe, PIPE_HEADER_SIZE, 8);
	put_bytes(&pipe, builder->records.bytes, builder->records.size);
	return pipe;
}

struct buffer recording_builder_finish(struct recording_builder *builder)
{
	struct buffer bytes = builder->shape.is_pipe ? lay_out_pipe(builder)
						     : lay_out_file(builder);
	for (size_t i = 0; i < builder->events.count; i++) {
		free(builder->events.items[i].name);
		free(builder->events.items[i].ids);
	}
	array_fini(&builder->events);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		buffer_fini(&builder->features[bit]);
	buffer_fini(&builder->records);
	buffer_fini(&builder->plain);
	ZSTD_freeCStream(builder->zstd);
	free(builder);
	return bytes;
}

char *built_file(const struct buffer *bytes)
{
	char *path = strdup("/tmp/imprint-test-XXXXXX");
	must(path != NULL);
	int fd = mkstemp(path);
	must(fd >= 0);
	for (size_t at = 0; at < bytes->size;) {
		ssize_t written = write(fd, bytes->bytes + at, bytes->size - at);
		must(written > 0);
		at += (size_t)written;
	}
	close(fd);
	return path;
}

void built_file_remove(char *path)
{
	unlink(path);
	free(path);
}
