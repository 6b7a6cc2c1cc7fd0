// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// pprof's messages, read back by a reader of the test's own.
#include "render/export/pprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "harness/tap.h"
#include "unit/render/scene.h"

struct reader {
	const uint8_t *at, *end;
};

// One field: a number, or the bytes of a string or message.
struct field {
	unsigned number;
	uint64_t value;
	struct reader bytes;
};

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;
	for (unsigned shift = 0; reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static bool read_field(struct reader *reader, struct field *field)
{
	if (reader->at >= reader->end)
		return false;
	uint64_t key = read_varint(reader);
	*field = (struct field){ .number = (unsigned)(key >> 3) };
	if ((key & 7) == 0) {
		field->value = read_varint(reader);
		return true;
	}
	uint64_t size = read_varint(reader);
	if ((key & 7) != 2 || size > (size_t)(reader->end - reader->at)) {
		tap_fail(__FILE__, __LINE__,
			 "a wire type that is never written, or a length past the end");
		return false;
	}
	field->bytes = (struct reader){ reader->at, reader->at + size };
	reader->at += size;
	return true;
}

// The INDEXth field NUMBER of MESSAGE, zero when there is none.
static struct field find_nth(struct reader message, unsigned number, uint64_t index)
{
	struct field field;
	while (read_field(&message, &field))
		if (field.number == number && !index--)
			return field;
	return (struct field){ .number = 0 };
}

static uint64_t number_in(struct reader message, unsigned number)
{
	return find_nth(message, number, 0).value;
}

// The message among the profile's fields TABLE whose ID is ID.
static struct reader by_id(struct reader profile, unsigned table, uint64_t id)
{
	struct field field;
	while (read_field(&profile, &field))
		if (field.number == table && number_in(field.bytes, 1) == id)
			return field.bytes;
	return (struct reader){ NULL, NULL };
}

static void append_string(struct buffer *text, struct reader profile, uint64_t number)
{
	struct reader bytes = find_nth(profile, 6, number).bytes;
	buffer_append(text, bytes.at, (size_t)(bytes.end - bytes.at));
}

static void append_location(struct buffer *text, struct reader profile, uint64_t id)
{
	struct reader location = by_id(profile, 4, id);
	struct reader line = find_nth(location, 4, 0).bytes;
	struct reader mapping = by_id(profile, 3, number_in(location, 2));
	buffer_text(text, " ");
	append_string(text, profile, number_in(by_id(profile, 5, number_in(line, 1)), 2));
	if (!mapping.at)
		return;
	buffer_text(text, "@");
	append_string(text, profile, number_in(mapping, 5));
	buffer_text(text, "#");
	append_string(text, profile, number_in(mapping, 6));
}

static void append_sample(struct buffer *text, struct reader profile, struct reader sample)
{
	struct reader values = find_nth(sample, 2, 0).bytes;
	struct reader locations = find_nth(sample, 1, 0).bytes;
	struct reader label = find_nth(sample, 3, 0).bytes;
	while (values.at < values.end)
		buffer_format(text, "%" PRIu64 " ", read_varint(&values));
	append_string(text, profile, number_in(label, 1));
	buffer_text(text, "=");
	append_string(text, profile, number_in(label, 2));
	while (locations.at < locations.end)
		append_location(text, profile, read_varint(&locations));
	buffer_text(text, "\n");
}

static void append_types(struct buffer *text, struct reader profile)
{
	for (uint64_t i = 0; i < 4; i++) {
		struct reader type = find_nth(profile, 1, i).bytes;
		append_string(text, profile, number_in(type, 1));
		buffer_text(text, "/");
		append_string(text, profile, number_in(type, 2));
		buffer_text(text, i < 3 ? ", " : "; ");
	}
	append_string(text, profile, number_in(profile, 14));
	buffer_format(text, "; %" PRIu64 " ns; ", number_in(profile, 10));
	append_string(text, profile, number_in(profile, 13));
	buffer_text(text, "\n");
}

static void append_all(struct buffer *text, struct reader profile)
{
	struct reader rest = profile;
	struct field field;
	append_types(text, profile);
	while (read_field(&rest, &field))
		if (field.number == 2)
			append_sample(text, profile, field.bytes);
	buffer_append(text, "", 1);
}

TEST(stacks_values_and_builds_arrive_whatever_the_order)
{
	for (unsigned is_reversed = 0; is_reversed < 2; is_reversed++) {
		_cleanup_profile_ struct profile *profile = make_scene(is_reversed);
		_cleanup_buffer_ struct buffer message = { 0 };
		_cleanup_buffer_ struct buffer text = { 0 };
		CHECK_OK(pprof_encode(profile, &message));
		append_all(&text, (struct reader){ message.bytes, message.bytes + message.size });
		CHECK_TEXT(
			(const char *)text.bytes,
			"samples of cycles/count, cycles/count, samples of faults/count, faults/count; "
			"cycles; 2500000000 ns; perf record -g app\n"
			"1 10 0 0 comm=appA [unmapped] main@/bin/app#1111111111111111111111111111111111111111\n"
			"40 400 0 0 comm=appA /lib/libfoo.so+0x20@/lib/libfoo.so# "
			"main@/bin/app#1111111111111111111111111111111111111111\n"
			"4 40 0 0 comm=appB main@/bin/app#1111111111111111111111111111111111111111\n"
			"20 200 0 0 comm=appB crypt@/lib/libfoo.so#22222222222222222222222222222222222222"
			"22 main@/bin/app#1111111111111111111111111111111111111111\n"
			"30 300 0 0 comm=appB copy@/lib/libfoo.so#222222222222222222222222222222222222222"
			"2 zip@/lib/libfoo.so#2222222222222222222222222222222222222222 "
			"main@/bin/app#1111111111111111111111111111111111111111\n"
			"5 50 0 0 comm=swapper [buildid:abcd]+0x40@[kernel.kallsyms]#abcd\n"
			"0 0 3 30 comm=appA main@/bin/app#1111111111111111111111111111111111111111\n");
	}
}

TEST(the_first_mapping_is_the_program_in_which_stacks_begin)
{
	for (unsigned is_reversed = 0; is_reversed < 2; is_reversed++) {
		_cleanup_profile_ struct profile *profile = make_scene(is_reversed);
		_cleanup_buffer_ struct buffer message = { 0 };
		_cleanup_buffer_ struct buffer text = { 0 };
		CHECK_OK(pprof_encode(profile, &message));
		struct reader whole = { message.bytes, message.bytes + message.size };
		append_string(&text, whole, number_in(by_id(whole, 3, 1), 5));
		buffer_append(&text, "", 1);
		CHECK_TEXT((const char *)text.bytes, "/bin/app");
	}
}

TEST(the_file_is_gzip_and_the_same_each_time)
{
	_cleanup_profile_ struct profile *profile = make_scene(false);
	_cleanup_buffer_ struct buffer message = { 0 };
	CHECK_OK(pprof_encode(profile, &message));
	_cleanup_free_ char *files[2] = { NULL, NULL };
	size_t sizes[2];
	for (unsigned i = 0; i < 2; i++) {
		FILE *out = open_memstream(&files[i], &sizes[i]);
		CHECK(out);
		CHECK_OK(pprof_write(profile, out));
		fclose(out);
	}
	CHECK(sizes[0] == sizes[1] && !memcmp(files[0], files[1], sizes[0]));
	free(files[1]);
	_cleanup_free_ uint8_t *inflated = malloc(message.size + 1);
	z_stream stream = { .next_in = (uint8_t *)files[0],
			    .avail_in = (uInt)sizes[0],
			    .next_out = inflated,
			    .avail_out = (uInt)message.size + 1 };
	CHECK(inflated && inflateInit2(&stream, 15 + 16) == Z_OK);
	CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
	CHECK(stream.total_out == message.size && !memcmp(inflated, message.bytes, message.size));
	inflateEnd(&stream);
}
