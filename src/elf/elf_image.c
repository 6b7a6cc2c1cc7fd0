// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening an ELF image, and its headers as tables.
#include "elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "elf/elf_notes.h"
#include "elf/module_layout.h"
#include "elf/unpack.h"

enum { HEADERS_MOST = 1 << 20 };
static const size_t unpacked_most = (size_t)2 << 30;

struct elf_image {
	char *path;
	const uint8_t *bytes;
	size_t size;
	// What is to be given back: a mapping, or bytes of the heap.
	void *mapping;
	size_t mapping_size;
	uint8_t *owned;
	// Of the mapped file; all zero where there is none.
	struct stat file;
	struct elf_header header;
	struct build_id id;
	ARRAY_OF(struct load_segment) segments;
	ARRAY_OF(struct elf_section) sections;
};

void elf_image_free(struct elf_image *image)
{
	if (!image)
		return;
	if (image->mapping)
		munmap(image->mapping, image->mapping_size);
	free(image->owned);
	free(image->path);
	array_fini(&image->segments);
	array_fini(&image->sections);
	free(image);
}

// The entry INDEX of a table of entries of EACH bytes at START; NULL beyond the end of the file.
static const uint8_t *entry_at(const struct elf_image *image, uint64_t start, uint64_t index,
			       size_t each)
{
	uint64_t at;
	if (__builtin_add_overflow(start, index * each, &at) || at > image->size ||
	    each > image->size - at)
		return NULL;
	return image->bytes + at;
}

static bool read_segments(struct elf_image *image)
{
	const struct elf_header *header = &image->header;
	for (uint32_t i = 0; i < header->program_header_count && i < HEADERS_MOST; i++) {
		const uint8_t *bytes =
			entry_at(image, header->program_headers, i, header->program_header_size);
		if (!bytes)
			break;
		struct elf_program_header segment = elf_program_header_read(header, bytes);
		if (segment.type != PT_LOAD)
			continue;
		struct load_segment *slot = array_add(&image->segments);
		if (!slot)
			return false;
		*slot = (struct load_segment){ .offset = segment.offset,
					       .address = segment.address,
					       .file_size = segment.file_size,
					       .memory_size = segment.memory_size,
					       .is_executable = segment.flags & PF_X };
	}
	return true;
}

static const char *section_name(const struct elf_section_header *names, uint32_t name,
				const struct elf_image *image)
{
	if (names->offset > image->size || name >= names->size)
		return "";
	uint64_t left = image->size - names->offset;
	if (names->size < left)
		left = names->size;
	if (name >= left)
		return "";
	const char *text = (const char *)image->bytes + names->offset + name;
	return memchr(text, 0, (size_t)(left - name)) ? text : "";
}

static bool read_sections(struct elf_image *image)
{
	const struct elf_header *header = &image->header;
	struct elf_section_header names = { 0 };
	const uint8_t *bytes = entry_at(image, header->section_headers, header->name_section,
					header->section_header_size);
	if (bytes && header->name_section < header->section_header_count)
		names = elf_section_header_read(header, bytes);
	for (uint32_t i = 0; i < header->section_header_count && i < HEADERS_MOST; i++) {
		bytes = entry_at(image, header->section_headers, i, header->section_header_size);
		if (!bytes)
			break;
		struct elf_section_header section = elf_section_header_read(header, bytes);
		struct elf_section *slot = array_add(&image->sections);
		if (!slot)
			return false;
		*slot = (struct elf_section){ .name = section_name(&names, section.name, image),
					      .flags = section.flags,
					      .address = section.address,
					      .offset = section.offset,
					      .size = section.size,
					      .entry_size = section.entry_size,
					      .alignment = section.alignment,
					      .type = section.type,
					      .link = section.link,
					      .info = section.info };
	}
	return true;
}

// Reads the headers of the bytes that IMAGE already has.
static struct imp_error *read_headers(struct elf_image *image)
{
	if (!elf_header_read(image->bytes, image->size, &image->header))
		return error_new(IMP_ERR_BAD_DATA, "%s: not an ELF file", image->path);
	struct elf_header *header = &image->header;
	if (elf_header_is_extended(header)) {
		const uint8_t *bytes =
			entry_at(image, header->section_headers, 0, header->section_header_size);
		struct elf_section_header first = { 0 };
		if (bytes)
			first = elf_section_header_read(header, bytes);
		elf_header_extend(header, &first);
	}
	if (!read_segments(image) || !read_sections(image))
		return &imp_error_no_memory;
	if (header->type == ET_REL)
		module_layout(image->sections.items, image->sections.count);
	struct elf_reader reader;
	elf_reader_over_memory(&reader, image->bytes, image->size);
	image->id = elf_reader_build_id(&reader);
	return NULL;
}

// Puts the unpacked content in the place of the packed bytes.
static struct imp_error *unpack_image(struct elf_image *image)
{
	_cleanup_buffer_ struct buffer buffer = { 0 };
	struct imp_error *err = unpack(image->bytes, image->size, unpacked_most, &buffer);
	if (err)
		return error_context(err, "%s", image->path);
	if (image->mapping)
		munmap(image->mapping, image->mapping_size);
	image->mapping = NULL;
	free(image->owned);
	uint8_t *fitting = realloc(buffer.bytes, buffer.size + 1);
	image->bytes = image->owned = fitting ? fitting : buffer.bytes;
	image->size = buffer.size;
	buffer.bytes = NULL;
	return NULL;
}

static struct imp_error *finish(struct elf_image **image, struct elf_image **ret)
{
	struct imp_error *err = NULL;
	if (unpack_knows((*image)->bytes, (*image)->size))
		err = unpack_image(*image);
	if (!err)
		err = read_headers(*image);
	if (!err)
		*ret = steal(*image);
	return err;
}

static struct imp_error *new_image(const char *path, struct elf_image **ret)
{
	struct elf_image *image = calloc(1, sizeof *image);
	char *copy = strdup(path);
	if (!image || !copy) {
		free(image);
		free(copy);
		return &imp_error_no_memory;
	}
	image->path = copy;
	*ret = image;
	return NULL;
}

struct imp_error *elf_image_open_fd(int fd_taken, const char *path, uint64_t offset,
				    struct elf_image **ret)
{
	_cleanup_close_ int fd = fd_taken;
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = new_image(path, &image);
	if (err)
		return err;
	struct stat status;
	if (fstat(fd, &status) < 0)
		return error_system(errno, "%s: cannot stat", path);
	if (!S_ISREG(status.st_mode))
		return error_new(IMP_ERR_BAD_DATA, "%s: not a regular file", path);
	uint64_t size = (uint64_t)status.st_size;
	if (offset >= size)
		return error_new(IMP_ERR_BAD_DATA, "%s: not an ELF file", path);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset & ~(page - 1);
	if (size - start > SIZE_MAX)
		return error_new(IMP_ERR_UNSUPPORTED, "%s: too large to be mapped", path);
	image->mapping_size = (size_t)(size - start);
	void *mapping = mmap(NULL, image->mapping_size, PROT_READ, MAP_PRIVATE, fd, (off_t)start);
	if (mapping == MAP_FAILED)
		return error_system(errno, "%s: cannot map", path);
	image->mapping = mapping;
	image->bytes = (const uint8_t *)mapping + (offset - start);
	image->size = (size_t)(size - offset);
	image->file = status;
	return finish(&image, ret);
}

struct imp_error *elf_image_open(const char *path, struct elf_image **ret)
{
	// Without O_NONBLOCK a FIFO would wait for a writer.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	return elf_image_open_fd(fd, path, 0, ret);
}

struct imp_error *elf_image_open_memory(const void *bytes, size_t size, const char *name,
					struct elf_image **ret)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = new_image(name, &image);
	if (err)
		return err;
	image->owned = malloc(size + 1);
	if (!image->owned)
		return &imp_error_no_memory;
	memcpy(image->owned, bytes, size);
	image->bytes = image->owned;
	image->size = size;
	return finish(&image, ret);
}

const char *elf_image_path(const struct elf_image *image)
{
	return image->path;
}

const struct build_id *elf_image_id(const struct elf_image *image)
{
	return &image->id;
}

size_t elf_image_segment_count(const struct elf_image *image)
{
	return image->segments.count;
}

const struct load_segment *elf_image_segment(const struct elf_image *image, size_t index)
{
	return &image->segments.items[index];
}

bool elf_image_address(const struct elf_image *image, file_off offset, elf_addr *ret)
{
	const struct load_segment *best = NULL;
	for (size_t i = 0; i < image->segments.count; i++) {
		const struct load_segment *segment = &image->segments.items[i];
		if (offset.value < segment->offset ||
		    offset.value - segment->offset >= segment->file_size)
			continue;
		if (!best || (segment->is_executable && !best->is_executable))
			best = segment;
	}
	if (!best)
		return false;
	*ret = elf_addr_of(offset.value - best->offset + best->address);
	return true;
}

bool elf_image_has_layout(const struct elf_image *image)
{
	bool has_code = false;
	for (size_t i = 0; i < image->segments.count; i++) {
		const struct load_segment *segment = &image->segments.items[i];
		if (!segment->is_executable || !segment->memory_size)
			continue;
		if (!segment->file_size)
			return false;
		has_code = true;
	}
	return has_code;
}

static bool is_code(const struct elf_section *section)
{
	const uint64_t needed = SHF_ALLOC | SHF_EXECINSTR;
	return (section->flags & needed) == needed && section->size;
}

bool elf_image_shift(const struct elf_image *image, const struct elf_image *other, uint64_t *shift)
{
	bool is_first = true;
	*shift = 0;
	if (image == other || image->header.type == ET_REL || other->header.type == ET_REL)
		return true;
	for (size_t i = 0; i < image->sections.count; i++) {
		const struct elf_section *section = &image->sections.items[i];
		// Of several with one name the first is held against the first.
		if (!is_code(section) || elf_image_section_named(image, section->name) != section)
			continue;
		const struct elf_section *twin = elf_image_section_named(other, section->name);
		if (!twin || !is_code(twin))
			continue;
		uint64_t distance = twin->address - section->address;
		if (twin->size != section->size || (!is_first && distance != *shift))
			return false;
		*shift = distance;
		is_first = false;
	}
	return true;
}

size_t elf_image_section_count(const struct elf_image *image)
{
	return image->sections.count;
}

const struct elf_section *elf_image_section(const struct elf_image *image, size_t index)
{
	return &image->sections.items[index];
}

const struct elf_section *elf_image_section_named(const struct elf_image *image, const char *name)
{
	for (size_t i = 0; i < image->sections.count; i++)
		if (!strcmp(image->sections.items[i].name, name))
			return &image->sections.items[i];
	return NULL;
}

struct cursor elf_image_section_bytes(const struct elf_image *image,
				      const struct elf_section *section)
{
	struct cursor cursor = cursor_over(NULL, 0);
	cursor.swap = image->header.swap;
	if (section->type == SHT_NOBITS || section->offset >= image->size)
		return cursor;
	cursor.start = image->bytes + section->offset;
	cursor.origin = section->offset;
	cursor.size = (size_t)(image->size - section->offset);
	if (section->size < cursor.size)
		cursor.size = (size_t)section->size;
	return cursor;
}

bool elf_image_file(const struct elf_image *image, struct stat *ret)
{
	*ret = image->file;
	return image->mapping && image->size == (uint64_t)image->file.st_size;
}

const void *elf_image_bytes(const struct elf_image *image, size_t *size)
{
	*size = image->size;
	return image->bytes;
}

void elf_image_release(const struct elf_image *image, const void *bytes, size_t size)
{
	const uintptr_t page = 4096;
	uintptr_t start = (uintptr_t)bytes, mapping = (uintptr_t)image->mapping;
	if (!image->mapping || start < mapping || start - mapping > image->mapping_size ||
	    size > image->mapping_size - (start - mapping))
		return;
	uintptr_t from = start & ~(page - 1), to = (start + size) & ~(page - 1);
	// Fails where pages are bigger, which costs memory and nothing else.
	if (to > from)
		(void)madvise((void *)from, to - from, MADV_DONTNEED);
}

enum elf_image_type elf_image_type(const struct elf_image *image)
{
	switch (image->header.type) {
	case ET_EXEC:
		return ELF_EXECUTABLE;
	case ET_DYN:
		return ELF_SHARED;
	case ET_REL:
		return ELF_RELOCATABLE;
	case ET_CORE:
		return ELF_CORE;
	default:
		return ELF_OTHER;
	}
}

bool elf_image_is_64bit(const struct elf_image *image)
{
	return image->header.is_64bit;
}

bool elf_image_is_swapped(const struct elf_image *image)
{
	return image->header.swap;
}

elf_addr elf_image_entry(const struct elf_image *image)
{
	return elf_addr_of(image->header.entry);
}

uint16_t elf_image_machine(const struct elf_image *image)
{
	return image->header.machine;
}

// Some symbol of a table of TYPE is a function that is defined here.
static bool has_functions(const struct elf_image *image, uint32_t type)
{
	bool wide = image->header.is_64bit;
	size_t each = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	for (size_t i = 0; i < image->sections.count; i++) {
		if (image->sections.items[i].type != type)
			continue;
		struct cursor table = elf_image_section_bytes(image, &image->sections.items[i]);
		while (cursor_left(&table) >= each) {
			struct cursor entry = cursor_part(&table, each);
			cursor_skip(&entry, wide ? 4 : 12);
			uint8_t kind = cursor_u8(&entry) & 15;
			cursor_u8(&entry);
			if ((kind == STT_FUNC || kind == STT_GNU_IFUNC) &&
			    cursor_u16(&entry) != SHN_UNDEF)
				return true;
		}
	}
	return false;
}

bool elf_image_has_symtab(const struct elf_image *image)
{
	return has_functions(image, SHT_SYMTAB);
}

bool elf_image_has_dynsym(const struct elf_image *image)
{
	return has_functions(image, SHT_DYNSYM);
}

static bool has_content(const struct elf_image *image, const char *name)
{
	const struct elf_section *section = elf_image_section_named(image, name);
	return section && elf_image_section_bytes(image, section).size > 0;
}

bool elf_image_has_debugdata(const struct elf_image *image)
{
	return has_content(image, ".gnu_debugdata");
}

bool elf_image_has_dwarf(const struct elf_image *image)
{
	return has_content(image, ".debug_info") || has_content(image, ".zdebug_info");
}
