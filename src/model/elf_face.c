// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading the program headers of an ELF image of either class and byte order.
#include "model/elf_face.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/elf_note.h"

enum {
	// As many as Linux looks through for a build ID.
	MOST_SEGMENTS = 256,
	MOST_NOTE_BYTES = 256 * 1024,
	MOST_DYNAMIC_BYTES = 64 * 1024,
};

struct segment {
	uint32_t type;
	uint64_t offset, address, file_size, memory_size, align;
};

struct segments {
	const struct byte_source *source;
	bool is_64bit, swap;
	size_t count;
	struct segment items[MOST_SEGMENTS];
};

static uint64_t read_word(struct cursor *bytes, bool is_64bit)
{
	return is_64bit ? cursor_u64(bytes) : cursor_u32(bytes);
}

static struct segment read_segment(struct cursor *bytes, bool is_64bit)
{
	struct segment segment = { .type = cursor_u32(bytes) };
	if (is_64bit)
		cursor_skip(bytes, 4);
	segment.offset = read_word(bytes, is_64bit);
	segment.address = read_word(bytes, is_64bit);
	read_word(bytes, is_64bit);
	segment.file_size = read_word(bytes, is_64bit);
	segment.memory_size = read_word(bytes, is_64bit);
	if (!is_64bit)
		cursor_skip(bytes, 4);
	segment.align = read_word(bytes, is_64bit);
	return segment;
}

static void read_table(struct segments *ret, uint64_t at, size_t entry_size, size_t count)
{
	size_t smallest = ret->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (entry_size < smallest || entry_size > 1024)
		return;
	if (count > MOST_SEGMENTS)
		count = MOST_SEGMENTS;
	_cleanup_free_ uint8_t *table = calloc(count ? count : 1, entry_size);
	if (!table)
		return;
	size_t got = ret->source->read(ret->source->arg, at, table, count * entry_size);
	struct cursor bytes =
		cursor_over(table, got < count * entry_size ? got : count * entry_size);
	bytes.swap = ret->swap;
	while (ret->count < count && cursor_left(&bytes) >= entry_size) {
		struct cursor entry = cursor_part(&bytes, entry_size);
		ret->items[ret->count++] = read_segment(&entry, ret->is_64bit);
	}
}

// The header's own fields and the table of segments. False when it is no ELF image.
static bool read_header(const struct byte_source *source, struct elf_face *face,
			struct segments *segments)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	size_t got = source->read(source->arg, 0, header, sizeof header);
	if (got < sizeof(Elf32_Ehdr) || got > sizeof header || memcmp(header, ELFMAG, SELFMAG))
		return false;
	face->is_64bit = header[EI_CLASS] == ELFCLASS64;
	face->swap = header[EI_DATA] !=
		     (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
	struct cursor bytes = cursor_over(header, got);
	bytes.swap = face->swap;
	cursor_skip(&bytes, EI_NIDENT);
	face->type = cursor_u16(&bytes);
	face->machine = cursor_u16(&bytes);
	cursor_skip(&bytes, 4);
	read_word(&bytes, face->is_64bit);
	uint64_t table = read_word(&bytes, face->is_64bit);
	read_word(&bytes, face->is_64bit);
	cursor_skip(&bytes, 4 + 2);
	size_t entry_size = cursor_u16(&bytes);
	size_t count = cursor_u16(&bytes);
	if (bytes.failed)
		return false;
	face->is_elf = true;
	segments->source = source;
	segments->is_64bit = face->is_64bit;
	segments->swap = face->swap;
	read_table(segments, table, entry_size, count);
	return true;
}

static const struct segment *segment_of_address(const struct segments *segments, uint64_t address)
{
	for (size_t i = 0; i < segments->count; i++) {
		const struct segment *segment = &segments->items[i];
		if (segment->type == PT_LOAD && address >= segment->address &&
		    address - segment->address < segment->memory_size)
			return segment;
	}
	return NULL;
}

// What to subtract from an address to get its distance from the first byte of a loaded image.
static uint64_t load_bias(const struct segments *segments)
{
	for (size_t i = 0; i < segments->count; i++)
		if (segments->items[i].type == PT_LOAD)
			return segments->items[i].address - segments->items[i].offset;
	return 0;
}

// Reads SIZE bytes that stand at ADDRESS, or at OFFSET of the file.
static size_t read_at(const struct segments *segments, uint64_t address, uint64_t offset,
		      void *bytes, size_t size)
{
	const struct byte_source *source = segments->source;
	uint64_t at = source->is_loaded ? address - load_bias(segments) : offset;
	size_t got = source->read(source->arg, at, bytes, size);
	return got < size ? got : size;
}

static size_t read_of_address(const struct segments *segments, uint64_t address, void *bytes,
			      size_t size)
{
	const struct segment *segment = segment_of_address(segments, address);
	if (!segment)
		return 0;
	return read_at(segments, address, segment->offset + (address - segment->address), bytes,
		       size);
}

// The whole of SEGMENT up to MOST bytes: to be freed; NULL when it is empty or too large.
static uint8_t *read_segment_bytes(const struct segments *segments, const struct segment *segment,
				   size_t most, size_t *size)
{
	if (!segment->file_size || segment->file_size > most)
		return NULL;
	uint8_t *bytes = malloc(segment->file_size);
	if (bytes)
		*size = read_at(segments, segment->address, segment->offset, bytes,
				segment->file_size);
	return bytes;
}

static void read_notes(const struct segments *segments, const struct segment *segment,
		       struct elf_face *face)
{
	size_t size = 0;
	_cleanup_free_ uint8_t *bytes =
		read_segment_bytes(segments, segment, MOST_NOTE_BYTES, &size);
	if (!bytes)
		return;
	struct cursor notes = cursor_over(bytes, size);
	notes.swap = segments->swap;
	struct elf_note note;
	while (elf_note_next(&notes, segment->align, &note)) {
		if (elf_note_is(&note, "GNU", NOTE_GNU_BUILD_ID) && build_id_is_none(&face->id))
			face->id = build_id_of(note.bytes, (uint32_t)note.size);
		else if (elf_note_is(&note, "FDO", NOTE_FDO_PACKAGE) &&
			 note.size < sizeof face->package && !face->package[0])
			memcpy(face->package, note.bytes, note.size);
	}
}

static void read_soname(const struct segments *segments, const struct segment *segment,
			struct elf_face *face)
{
	size_t size = 0;
	_cleanup_free_ uint8_t *bytes =
		read_segment_bytes(segments, segment, MOST_DYNAMIC_BYTES, &size);
	if (!bytes)
		return;
	struct cursor entries = cursor_over(bytes, size);
	entries.swap = segments->swap;
	uint64_t strings = 0, soname = 0;
	for (;;) {
		uint64_t tag = read_word(&entries, segments->is_64bit);
		uint64_t value = read_word(&entries, segments->is_64bit);
		if (entries.failed || tag == DT_NULL)
			break;
		if (tag == DT_STRTAB)
			strings = value;
		else if (tag == DT_SONAME)
			soname = value;
	}
	if (!strings || !soname)
		return;
	// A loader that relocates in place (glibc's does) leaves an absolute address.
	if (!segment_of_address(segments, strings) && segments->source->is_loaded)
		strings += load_bias(segments) - segments->source->base;
	size_t got = read_of_address(segments, strings + soname, face->soname, sizeof face->soname);
	if (!memchr(face->soname, 0, got))
		face->soname[0] = 0;
}

void elf_face_read(const struct byte_source *source, struct elf_face *ret)
{
	*ret = (struct elf_face){ 0 };
	_cleanup_free_ struct segments *segments = calloc(1, sizeof *segments);
	if (!segments || !read_header(source, ret, segments))
		return;
	uint64_t bias = load_bias(segments);
	for (size_t i = 0; i < segments->count; i++) {
		const struct segment *segment = &segments->items[i];
		uint64_t end = segment->address - bias + segment->memory_size;
		if (segment->type == PT_NOTE)
			read_notes(segments, segment, ret);
		else if (segment->type == PT_DYNAMIC)
			read_soname(segments, segment, ret);
		else if (segment->type == PT_LOAD && end > ret->memory_size)
			ret->memory_size = end;
	}
}

struct build_id elf_face_id(const struct byte_source *source)
{
	struct elf_face face = { 0 };
	_cleanup_free_ struct segments *segments = calloc(1, sizeof *segments);
	if (!segments || !read_header(source, &face, segments))
		return face.id;
	for (size_t i = 0; i < segments->count && build_id_is_none(&face.id); i++)
		if (segments->items[i].type == PT_NOTE)
			read_notes(segments, &segments->items[i], &face);
	return face.id;
}

struct copied_image {
	const uint8_t *bytes;
	size_t size;
};

static size_t copied_image_read(void *arg, uint64_t offset, void *bytes, size_t size)
{
	const struct copied_image *image = arg;
	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = image->size - offset;
	memcpy(bytes, image->bytes + offset, size);
	return size;
}

struct build_id elf_face_id_of_memory(const void *bytes, size_t size)
{
	struct copied_image image = { bytes, size };
	return elf_face_id(&(struct byte_source){
		.read = copied_image_read, .arg = &image, .is_loaded = true });
}
