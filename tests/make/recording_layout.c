// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What stands around the records of made recordings: header, attrs, features.
#include <stdlib.h>
#include <string.h>

#include "make/recording_builder.h"

enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16 };

static uint64_t reversed_bits(uint64_t value)
{
	uint64_t reversed = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		reversed |= (value >> bit & 1) << (63 - bit);
	return reversed;
}

void put_attr(const struct recording_builder *builder, struct buffer *buffer,
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

struct buffer lay_out_file(const struct recording_builder *builder)
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

struct buffer lay_out_pipe(const struct recording_builder *builder)
{
	struct buffer pipe = { 0 };
	build_put(builder, &pipe, UINT64_C(0x32454c4946524550), 8);
	build_put(builder, &pipe, PIPE_HEADER_SIZE, 8);
	put_bytes(&pipe, builder->records.bytes, builder->records.size);
	return pipe;
}
