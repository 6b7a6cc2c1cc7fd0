// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads a recording's header, its attrs and its table of features.
#include "perfdata/file_header.h"

#include <inttypes.h>

enum {
	PIPE_HEADER_SIZE = 16,
	OLD_HEADER_SIZE = 72,
	HEADER_SIZE = 104,
	SECTION_SIZE = 16,
	ATTR_SIZE_FIRST = 64,
	// Far beyond any recording in earnest: a bound for those that are not.
	ATTRS_MOST_BYTES = 16 << 20,
	IDS_MOST_BYTES = 64 << 20,
};

#define MAGIC_2 UINT64_C(0x32454c4946524550)

static bool could_be_version_1_attr(uint64_t attr_size)
{
	static const uint64_t sizes[] = { 64, 72, 80, 96, 104 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (attr_size == sizes[i] + SECTION_SIZE)
			return true;
	return false;
}

// The first version's magic is text and does not tell the byte order: the sizes behind it do.
static void find_version_1_order(const uint8_t *head, size_t size, struct file_header *header)
{
	struct cursor cursor = cursor_over(head, size);
	cursor_skip(&cursor, 8);
	uint64_t header_size = cursor_u64(&cursor);
	uint64_t attr_size = cursor_u64(&cursor);
	header->is_version_1 = true;
	header->swap = header_size == __builtin_bswap64(PIPE_HEADER_SIZE) ||
		       (header_size != PIPE_HEADER_SIZE && !could_be_version_1_attr(attr_size) &&
			could_be_version_1_attr(__builtin_bswap64(attr_size)));
}

static struct imp_error *not_a_recording(const struct input *input, const uint8_t *head,
					 size_t size)
{
	if (!input->size)
		return error_new(IMP_ERR_BAD_DATA, "%s: empty, so not a recording", input->path);
	char begin[3 * 8 + 1] = "";
	for (size_t i = 0; i < size && i < 8; i++)
		snprintf(begin + 3 * i, 4, " %02x", head[i]);
	return error_new(IMP_ERR_BAD_DATA,
			 "%s: not a recording: expected \"PERFILE2\" at offset 0, found%s",
			 input->path, begin);
}

static struct section read_section(struct cursor *cursor)
{
	uint64_t offset = cursor_u64(cursor);
	uint64_t size = cursor_u64(cursor);
	return (struct section){ offset, size };
}

// A bitmap of unsigned longs, which had 32 bits on some machines: read in the other byte order, the
// half that has HOSTNAME, which every perf writes, tells how long they were.
static void read_feature_bits(struct cursor *cursor, struct file_header *header)
{
	for (size_t i = 0; i < FEATURE_BITS / 64; i++)
		header->features[i] = cursor_u64(cursor);
	uint64_t hostname = UINT64_C(1) << FEATURE_HOSTNAME;
	bool is_big_endian = cursor->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (!is_big_endian || header->features[0] & hostname)
		return;
	if (header->features[0] >> 32 & hostname)
		for (size_t i = 0; i < FEATURE_BITS / 64; i++)
			header->features[i] = header->features[i] << 32 | header->features[i] >> 32;
}

static struct imp_error *read_file_header(struct cursor *cursor, struct file_header *header)
{
	header->attr_size = cursor_u64(cursor);
	header->attrs = read_section(cursor);
	header->data = read_section(cursor);
	read_section(cursor);
	if (cursor->failed)
		return cursor_error(cursor, "header");
	if (header->size >= HEADER_SIZE && cursor_left(cursor) >= FEATURE_BITS / 8)
		read_feature_bits(cursor, header);
	return NULL;
}

struct imp_error *file_header_read(const struct input *input, struct file_header *ret)
{
	_cleanup_buffer_ struct buffer head = { 0 };
	struct imp_error *err = input_read(input, 0, HEADER_SIZE, &head);
	if (err)
		return err;
	struct file_header header = { 0 };
	struct cursor cursor = cursor_over(head.bytes, head.size);
	uint64_t magic = cursor_u64(&cursor);
	if (magic == __builtin_bswap64(MAGIC_2))
		header.swap = true;
	else if (head.size >= 8 && !memcmp(head.bytes, "PERFFILE", 8))
		find_version_1_order(head.bytes, head.size, &header);
	else if (magic != MAGIC_2)
		return not_a_recording(input, head.bytes, head.size);
	cursor.swap = header.swap;
	header.size = cursor_u64(&cursor);
	if (cursor.failed)
		return error_context(cursor_error(&cursor, "header"), "%s", input->path);
	header.is_pipe = header.size == PIPE_HEADER_SIZE;
	err = header.is_pipe ? NULL : read_file_header(&cursor, &header);
	if (err)
		return error_context(err, "%s", input->path);
	*ret = header;
	return NULL;
}

struct imp_error *event_add_with_ids(struct events *events, const struct event_attr *attr,
				     struct cursor *ids, struct event **ret)
{
	size_t count = cursor_left(ids) / sizeof(uint64_t);
	_cleanup_free_ uint64_t *copy = count ? malloc(count * sizeof *copy) : NULL;
	struct event *event = count && !copy ? NULL : events_add(events);
	if (!event)
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++)
		copy[i] = cursor_u64(ids);
	event->attr = *attr;
	event->ids = steal(copy);
	event->id_count = count;
	if (ret)
		*ret = event;
	return NULL;
}

// Reads the IDs of event INDEX. LEFT bounds the sum over all events by the size of the file,
// however often its entries name the same bytes.
static struct imp_error *read_ids(const struct input *input, struct section section, size_t index,
				  uint64_t *left, struct buffer *ids, struct warnings *warnings)
{
	struct section there = input_clip(input, section);
	if (there.size < section.size)
		warnings_add(warnings,
			     "%s: IDs of event %zu at offset %" PRIu64
			     " run past the end of the file",
			     input->path, index, section.offset);
	if (there.size > *left) {
		warnings_add(warnings, "%s: IDs of event %zu at offset %" PRIu64 " are too many",
			     input->path, index, section.offset);
		there.size = 0;
	}
	*left -= there.size;
	return input_read(input, there.offset, (size_t)there.size, ids);
}

// One entry of the attrs section, at ENTRY.
static struct imp_error *read_attr_entry(const struct input *input, struct cursor *entry,
					 uint32_t attr_size, uint64_t *ids_left,
					 struct events *events, struct warnings *warnings)
{
	struct event_attr attr;
	struct imp_error *err = attr_read(entry, attr_size, &attr);
	if (err)
		return err;
	struct section section = read_section(entry);
	_cleanup_buffer_ struct buffer bytes = { 0 };
	err = read_ids(input, section, events->count, ids_left, &bytes, warnings);
	if (err)
		return err;
	struct cursor ids = cursor_over(bytes.bytes, bytes.size);
	ids.swap = entry->swap;
	return event_add_with_ids(events, &attr, &ids, NULL);
}

struct imp_error *file_header_read_attrs(const struct input *input,
					 const struct file_header *header, struct events *events,
					 struct warnings *warnings)
{
	// The size as the header has it is the distance between entries; perf's own readers go by
	// the size within the attr, and both agree in what perf writes.
	uint64_t stride = header->attr_size;
	if (stride < ATTR_SIZE_FIRST + SECTION_SIZE || stride > UINT16_MAX) {
		warnings_add(warnings,
			     "%s: the header says that an event's entry has %" PRIu64
			     " bytes: no events are known from it",
			     input->path, stride);
		return NULL;
	}
	struct section section = input_clip(input, header->attrs);
	if (section.size < header->attrs.size)
		warnings_add(warnings,
			     "%s: the section of events at offset %" PRIu64
			     " runs past the end of the file",
			     input->path, header->attrs.offset);
	if (section.size > ATTRS_MOST_BYTES) {
		warnings_add(warnings,
			     "%s: the section of events has %" PRIu64 " bytes: only %d are read",
			     input->path, section.size, ATTRS_MOST_BYTES);
		section.size = ATTRS_MOST_BYTES;
	}
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = input_read(input, section.offset, (size_t)section.size, &bytes);
	struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
	cursor.swap = header->swap;
	cursor.origin = section.offset;
	uint64_t ids_left = input->size < IDS_MOST_BYTES ? input->size : IDS_MOST_BYTES;
	while (!err && cursor_left(&cursor) >= stride) {
		struct cursor entry = cursor_part(&cursor, (size_t)stride);
		err = read_attr_entry(input, &entry, (uint32_t)(stride - SECTION_SIZE), &ids_left,
				      events, warnings);
	}
	return err;
}

struct imp_error *file_header_read_features(const struct input *input,
					    const struct file_header *header, uint64_t data_end,
					    struct feature_sections *ret, struct warnings *warnings)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err =
		input_read(input, data_end, (size_t)FEATURE_BITS * SECTION_SIZE, &bytes);
	if (err)
		return err;
	struct cursor table = cursor_over(bytes.bytes, bytes.size);
	table.swap = header->swap;
	table.origin = data_end;
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		struct section section = read_section(&table);
		if (table.failed) {
			warnings_take(warnings, cursor_error(&table, "table of features"),
				      "%s: features from number %u on are lost", input->path, bit);
			return NULL;
		}
		ret->at[bit] = section;
		ret->present[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return NULL;
}
