// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lays recordings out byte by byte; knows the format by itself, not through src/perfdata.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "make/recording_builder.h"

enum { DEFAULT_ATTR_SIZE = 128 };

void must(bool ok)
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

void put_zeros(struct buffer *buffer, size_t size)
{
	uint8_t *bytes = size ? buffer_extend(buffer, size) : NULL;
	must(bytes || !size);
	if (bytes)
		memset(bytes, 0, size);
}

void put_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
	if (size)
		buffer_append(buffer, bytes, size);
	must(!buffer->failed);
}

void put_text(struct buffer *buffer, const char *text, size_t align)
{
	put_bytes(buffer, text, strlen(text) + 1);
	put_zeros(buffer, (align - buffer->size % align) % align);
}

void put_words(const struct recording_builder *builder, struct buffer *body, const uint64_t *words,
	       uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		build_put(builder, body, words[i], 8);
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
