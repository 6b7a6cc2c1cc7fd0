// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The order of things in a recording, and its header.
#include "perfdata/writer.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "perfdata/attr_encode.h"
#include "perfdata/compressor.h"
#include "perfdata/record_build.h"

enum { HEADER_BYTES = 104, STREAM_HEADER_BYTES = 16, WAIT_MOST_BYTES = 256 * 1024 };
static const char magic[8] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' };

struct payload {
	unsigned bit;
	struct buffer bytes;
};

struct writer {
	int fd;
	char *path;
	bool is_stream;
	struct compressor *compressor;
	int zstd_level;
	uint32_t most_ring_bytes;
	ARRAY_OF(struct payload) features;
	struct buffer waiting;
	uint32_t attr_size;
	size_t event_count;
	uint64_t attrs_at, data_at;
	// Where the next byte goes, and the end of the last whole record before it.
	uint64_t at, whole_at;
	uint64_t ring_bytes_in, ring_bytes_out;
};

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->features.count; i++)
		buffer_fini(&writer->features.items[i].bytes);
	array_fini(&writer->features);
	buffer_fini(&writer->waiting);
	compressor_free(writer->compressor);
	free(writer->path);
	free(writer);
}

DEFINE_CLEANUP(struct writer *, writer, writer_free)

struct imp_error *writer_new(int fd, const char *path, const struct writer_options *options,
			     struct writer **ret)
{
	_cleanup_(cleanup_writer) struct writer *writer = calloc(1, sizeof *writer);
	if (!writer)
		return &imp_error_no_memory;
	writer->fd = fd;
	writer->path = strdup(path);
	writer->is_stream = options->is_stream;
	writer->most_ring_bytes = options->most_ring_bytes;
	writer->zstd_level = options->zstd_level;
	if (!writer->path)
		return &imp_error_no_memory;
	if (options->zstd_level) {
		struct imp_error *err = compressor_new(options->zstd_level, &writer->compressor);
		if (err)
			return err;
	}
	*ret = steal(writer);
	return NULL;
}

struct imp_error *writer_feature(struct writer *writer, unsigned bit, const void *bytes,
				 size_t size)
{
	struct payload *payload = NULL;
	for (size_t i = 0; i < writer->features.count && !payload; i++)
		if (writer->features.items[i].bit == bit)
			payload = &writer->features.items[i];
	if (!payload)
		payload = array_add(&writer->features);
	if (!payload)
		return &imp_error_no_memory;
	payload->bit = bit;
	payload->bytes.size = 0;
	buffer_append(&payload->bytes, bytes, size);
	return payload->bytes.failed ? &imp_error_no_memory : NULL;
}

// Writes all of PARTS, which it changes.
static struct imp_error *write_parts(struct writer *writer, struct iovec *parts, int count)
{
	while (count) {
		ssize_t n = writev(writer->fd, parts, count < IOV_MAX ? count : IOV_MAX);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(errno, "%s: cannot write", writer->path);
		writer->at += (uint64_t)n;
		for (size_t done = (size_t)n; count; parts++, count--) {
			if (done < parts->iov_len) {
				parts->iov_base = (uint8_t *)parts->iov_base + done;
				parts->iov_len -= done;
				break;
			}
			done -= parts->iov_len;
		}
	}
	writer->whole_at = writer->at;
	return NULL;
}

static struct imp_error *write_waiting(struct writer *writer)
{
	if (writer->waiting.failed)
		return &imp_error_no_memory;
	struct iovec part = { writer->waiting.bytes, writer->waiting.size };
	struct imp_error *err = write_parts(writer, &part, writer->waiting.size > 0);
	writer->waiting.size = 0;
	return err;
}

static int by_bit(const void *a, const void *b)
{
	const struct payload *left = a, *right = b;
	return (left->bit > right->bit) - (left->bit < right->bit);
}

static void sort_features(struct writer *writer)
{
	if (writer->features.count)
		qsort(writer->features.items, writer->features.count,
		      sizeof *writer->features.items, by_bit);
}

// The table of features with their payloads, as it stands behind the records.
static void put_feature_sections(struct writer *writer, struct buffer *out)
{
	uint64_t at = writer->at + writer->features.count * 2 * sizeof(uint64_t);
	sort_features(writer);
	for (size_t i = 0; i < writer->features.count; i++) {
		uint64_t size = writer->features.items[i].bytes.size;
		feature_put_u64(out, at);
		feature_put_u64(out, size);
		at += size;
	}
	for (size_t i = 0; i < writer->features.count; i++)
		buffer_append(out, writer->features.items[i].bytes.bytes,
			      writer->features.items[i].bytes.size);
}

static struct imp_error *write_header(struct writer *writer, uint64_t data_end, bool has_features)
{
	uint64_t fields[HEADER_BYTES / 8] = { 0 };
	memcpy(fields, magic, sizeof magic);
	fields[1] = HEADER_BYTES;
	fields[2] = writer->attr_size + 2 * sizeof(uint64_t);
	fields[3] = writer->attrs_at;
	fields[4] = writer->event_count * fields[2];
	fields[5] = writer->data_at;
	fields[6] = data_end - writer->data_at;
	for (size_t i = 0; has_features && i < writer->features.count; i++) {
		unsigned bit = writer->features.items[i].bit;
		fields[9 + bit / 64] |= UINT64_C(1) << bit % 64;
	}
	ssize_t n = pwrite(writer->fd, fields, sizeof fields, 0);
	if (n < 0)
		return error_system(errno, "%s: cannot write its header", writer->path);
	if (n != sizeof fields)
		return error_system(ENOSPC, "%s: cannot write its header", writer->path);
	return NULL;
}

static void put_attr(const struct event_attr *attr, uint32_t size, struct buffer *out)
{
	uint8_t bytes[ATTR_MOST_BYTES];
	attr_encode(attr, bytes);
	memcpy(bytes + 4, &size, sizeof size);
	buffer_append(out, bytes, size);
}

static struct imp_error *begin_file(struct writer *writer, const struct written_event *events,
				    size_t count)
{
	struct buffer *out = &writer->waiting;
	uint8_t *header = buffer_extend(out, HEADER_BYTES);
	if (!header)
		return &imp_error_no_memory;
	memset(header, 0, HEADER_BYTES);
	for (size_t i = 0; i < count; i++)
		buffer_append(out, events[i].ids, events[i].id_count * sizeof(uint64_t));
	writer->attrs_at = out->size;
	uint64_t ids_at = HEADER_BYTES;
	for (size_t i = 0; i < count; i++) {
		uint64_t size = events[i].id_count * sizeof(uint64_t);
		put_attr(&events[i].attr, writer->attr_size, out);
		feature_put_u64(out, ids_at);
		feature_put_u64(out, size);
		ids_at += size;
	}
	writer->data_at = out->size;
	struct imp_error *err = write_waiting(writer);
	return err ? err : write_header(writer, writer->data_at, false);
}

static void put_attr_record(const struct written_event *event, uint32_t attr_size,
			    struct buffer *out)
{
	_cleanup_buffer_ struct buffer body = { 0 };
	put_attr(&event->attr, attr_size, &body);
	buffer_append(&body, event->ids, event->id_count * sizeof(uint64_t));
	record_build_plain(out, RECORD_HEADER_ATTR, 0, body.bytes, body.size);
	out->failed |= body.failed;
}

static void put_name_record(const struct written_event *event, struct buffer *out)
{
	enum { UPDATE_NAME = 2 };
	_cleanup_buffer_ struct buffer body = { 0 };
	feature_put_u64(&body, UPDATE_NAME);
	feature_put_u64(&body, event->id_count ? event->ids[0] : 0);
	buffer_append(&body, event->name, strlen(event->name) + 1);
	record_build_plain(out, RECORD_EVENT_UPDATE, 0, body.bytes, body.size);
	out->failed |= body.failed;
}

static void put_feature_record(unsigned bit, const struct buffer *payload, struct buffer *out)
{
	_cleanup_buffer_ struct buffer body = { 0 };
	feature_put_u64(&body, bit);
	if (payload)
		buffer_append(&body, payload->bytes, payload->size);
	record_build_plain(out, RECORD_HEADER_FEATURE, 0, body.bytes, body.size);
	out->failed |= body.failed;
}

static struct imp_error *begin_stream(struct writer *writer, const struct written_event *events,
				      size_t count)
{
	// What perf up to 6.12 takes for the end of the features.
	enum { LAST_FEATURE = 32, FEATURE_RECORD_MOST_BYTES = 65000 };
	struct buffer *out = &writer->waiting;
	buffer_append(out, magic, sizeof magic);
	feature_put_u64(out, STREAM_HEADER_BYTES);
	for (size_t i = 0; i < count; i++)
		put_attr_record(&events[i], writer->attr_size, out);
	sort_features(writer);
	for (size_t i = 0; i < writer->features.count; i++) {
		const struct payload *payload = &writer->features.items[i];
		if (payload->bit < LAST_FEATURE && payload->bytes.size < FEATURE_RECORD_MOST_BYTES)
			put_feature_record(payload->bit, &payload->bytes, out);
	}
	put_feature_record(LAST_FEATURE, NULL, out);
	for (size_t i = 0; i < count; i++)
		put_name_record(&events[i], out);
	return write_waiting(writer);
}

static struct imp_error *add_compressed_feature(struct writer *writer)
{
	enum { VERSION = 1, ZSTD = 1 };
	uint64_t out = writer->ring_bytes_out;
	uint32_t ratio = out ? (uint32_t)(writer->ring_bytes_in / out) : 0;
	uint32_t words[] = { VERSION, ZSTD, (uint32_t)writer->zstd_level, ratio,
			     writer->most_ring_bytes };
	return writer_feature(writer, FEATURE_COMPRESSED, words, sizeof words);
}

struct imp_error *writer_begin(struct writer *writer, const struct written_event *events,
			       size_t count)
{
	_cleanup_buffer_ struct buffer desc = { 0 };
	feature_encode_event_desc(events, count, &desc);
	if (desc.failed)
		return &imp_error_no_memory;
	struct imp_error *err = writer_feature(writer, FEATURE_EVENT_DESC, desc.bytes, desc.size);
	if (!err && writer->compressor)
		err = add_compressed_feature(writer);
	if (err)
		return err;
	writer->attr_size = written_attr_size(events, count);
	writer->event_count = count;
	return writer->is_stream ? begin_stream(writer, events, count)
				 : begin_file(writer, events, count);
}

struct imp_error *writer_records(struct writer *writer, const void *bytes, size_t size)
{
	if (writer->waiting.failed)
		return &imp_error_no_memory;
	if (writer->waiting.size + size <= WAIT_MOST_BYTES) {
		buffer_append(&writer->waiting, bytes, size);
		return writer->waiting.failed ? &imp_error_no_memory : NULL;
	}
	struct iovec parts[] = { { writer->waiting.bytes, writer->waiting.size },
				 { (void *)(uintptr_t)bytes, size } };
	struct imp_error *err = write_parts(writer, parts, 2);
	writer->waiting.size = 0;
	return err;
}

static struct imp_error *compress_parts(struct writer *writer, const struct iovec *parts, int count)
{
	size_t before = writer->waiting.size;
	for (int i = 0; i < count; i++) {
		struct imp_error *err = compressor_add(writer->compressor, parts[i].iov_base,
						       parts[i].iov_len, &writer->waiting);
		if (err)
			return err;
		writer->ring_bytes_in += parts[i].iov_len;
	}
	writer->ring_bytes_out += writer->waiting.size - before;
	return write_waiting(writer);
}

struct imp_error *writer_ring(struct writer *writer, const struct iovec *parts, int count)
{
	enum { PARTS_MOST = 3 };
	if (writer->waiting.failed)
		return &imp_error_no_memory;
	if (writer->compressor)
		return compress_parts(writer, parts, count);
	struct iovec all[PARTS_MOST] = { { writer->waiting.bytes, writer->waiting.size } };
	int used = writer->waiting.size > 0;
	for (int i = 0; i < count && used < PARTS_MOST; i++)
		all[used++] = parts[i];
	struct imp_error *err = write_parts(writer, all, used);
	writer->waiting.size = 0;
	return err;
}

struct imp_error *writer_checkpoint(struct writer *writer)
{
	struct imp_error *err = write_waiting(writer);
	if (err || writer->is_stream)
		return err;
	return write_header(writer, writer->at, false);
}

uint64_t writer_size(const struct writer *writer)
{
	return writer->at + writer->waiting.size;
}

struct imp_error *writer_rescue(struct writer *writer)
{
	if (writer->is_stream || !writer->data_at || writer->whole_at < writer->data_at)
		return NULL;
	return write_header(writer, writer->whole_at, false);
}

struct imp_error *writer_finish(struct writer *writer)
{
	struct imp_error *err = write_waiting(writer);
	if (err || writer->is_stream)
		return err;
	uint64_t data_end = writer->at;
	if (writer->compressor)
		err = add_compressed_feature(writer);
	if (err)
		return err;
	_cleanup_buffer_ struct buffer sections = { 0 };
	put_feature_sections(writer, &sections);
	if (sections.failed)
		return &imp_error_no_memory;
	struct iovec part = { sections.bytes, sections.size };
	err = write_parts(writer, &part, sections.size > 0);
	return err ? err : write_header(writer, data_end, true);
}
