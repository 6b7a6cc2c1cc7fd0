// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The build ID of an ELF file, found with as few reads as can be.
//
// Segments are asked first, as the kernel does it when it puts an ID into an mmap event, then
// sections: relocatable files have no segments, and those of split debug files may point anywhere.
#include "elf/elf_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "elf/elf_image.h"
#include "model/elf_note.h"

enum {
	// Notes beyond this are not looked at; the largest seen hold a few hundred bytes of IDs.
	NOTES_MOST = 1 << 20,
	// A file that claims more headers than this is not what it says.
	HEADERS_MOST = 1 << 20
};

static struct build_id id_in_range(struct elf_reader *reader, const struct elf_header *header,
				   struct elf_section_header notes)
{
	struct build_id none = { 0 };
	size_t size = notes.size > NOTES_MOST ? NOTES_MOST : (size_t)notes.size;
	const uint8_t *bytes = elf_reader_span(reader, notes.offset, size);
	if (bytes)
		return build_id_in_notes(bytes, size, notes.alignment, header->swap);
	_cleanup_free_ uint8_t *room = malloc(size + 1);
	if (!room)
		return none;
	size = elf_reader_copy(reader, notes.offset, room, size);
	return build_id_in_notes(room, size, notes.alignment, header->swap);
}

static struct build_id id_in_segments(struct elf_reader *reader, const struct elf_header *header)
{
	struct build_id id = { 0 };
	size_t each = header->program_header_size;
	uint32_t count = header->program_header_count;
	for (uint32_t i = 0; i < count && i < HEADERS_MOST && !id.size; i++) {
		const uint8_t *bytes =
			elf_reader_span(reader, header->program_headers + i * each, each);
		if (!bytes)
			break;
		struct elf_program_header segment = elf_program_header_read(header, bytes);
		if (segment.type == PT_NOTE)
			id = id_in_range(
				reader, header,
				(struct elf_section_header){ .offset = segment.offset,
							     .size = segment.file_size,
							     .alignment = segment.alignment });
	}
	return id;
}

static struct build_id id_in_sections(struct elf_reader *reader, const struct elf_header *header)
{
	struct build_id id = { 0 };
	size_t each = header->section_header_size;
	uint32_t count = header->section_header_count;
	for (uint32_t i = 0; i < count && i < HEADERS_MOST && !id.size; i++) {
		const uint8_t *bytes =
			elf_reader_span(reader, header->section_headers + i * each, each);
		if (!bytes)
			break;
		struct elf_section_header section = elf_section_header_read(header, bytes);
		if (section.type == SHT_NOTE)
			id = id_in_range(reader, header, section);
	}
	return id;
}

struct build_id elf_reader_build_id(struct elf_reader *reader)
{
	struct build_id none = { 0 };
	struct elf_header header;
	size_t size = reader->bytes ? reader->size : reader->head_size;
	if (!elf_header_read(reader->bytes ? reader->bytes : reader->head, size, &header))
		return none;
	// The notes of a core file are the dead process's state; the IDs in it name other files.
	if (header.type == ET_CORE)
		return none;
	if (elf_header_is_extended(&header)) {
		const uint8_t *first =
			elf_reader_span(reader, header.section_headers, header.section_header_size);
		if (!first)
			return none;
		struct elf_section_header section = elf_section_header_read(&header, first);
		elf_header_extend(&header, &section);
	}
	struct build_id id = id_in_segments(reader, &header);
	return id.size ? id : id_in_sections(reader, &header);
}

struct imp_error *elf_build_id_read_fd(int fd, const char *path, uint64_t offset,
				       struct build_id *ret)
{
	struct elf_reader reader;
	elf_reader_over_fd(&reader, fd, offset);
	struct build_id id = elf_reader_build_id(&reader);
	if (reader.error)
		return error_system(reader.error, "%s: cannot read", path);
	*ret = id;
	return NULL;
}

struct build_id elf_build_id_read_memory(const void *bytes, size_t size)
{
	struct elf_reader reader;
	elf_reader_over_memory(&reader, bytes, size);
	return elf_reader_build_id(&reader);
}

struct imp_error *elf_build_id_read(const char *path, struct build_id *ret)
{
	// Without O_NONBLOCK a FIFO among the files would wait for a writer.
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	return elf_build_id_read_fd(fd, path, 0, ret);
}
