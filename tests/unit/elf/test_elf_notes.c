// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/elf_image.h"

#include <string.h>

#include "harness/tap.h"
#include "make/elf.h"

static const uint8_t id_bytes[64] = { 0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, [63] = 0xee };
static const uint8_t zeros[20];

struct layout {
	bool is_32bit, is_big;
	bool in_segment, in_section;
	uint32_t align;
	uint32_t id_size;
	const void *id;
};

// A file whose notes are, in order: one of another owner of the same type, a GNU property, then the
// ID.
static void make(const struct layout *layout, struct buffer *ret)
{
	_cleanup_buffer_ struct buffer notes = { 0 };
	_cleanup_buffer_ struct buffer other = { 0 };
	make_note(&other, layout->is_big, "stapsdt", 3, "wrong", 6, 4);
	make_note(&notes, layout->is_big, "Go", 3, "wrong ID", 8, layout->align);
	make_note(&notes, layout->is_big, "GNU", 5, "property", 9, layout->align);
	if (layout->id)
		make_note(&notes, layout->is_big, "GNU", 3, layout->id, layout->id_size,
			  layout->align);
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.is_32bit = layout->is_32bit,
		.is_big_endian = layout->is_big,
		.has_no_sections = !layout->in_section,
		.section_count = 2,
		.sections = { { .name = ".other",
				.type = SHT_NOTE,
				.bytes = other.bytes,
				.size = other.size,
				.offset = 0x400,
				.alignment = 4 },
			      { .name = ".note",
				.type = SHT_NOTE,
				.bytes = notes.bytes,
				.size = notes.size,
				.offset = 0x6000,
				.alignment = layout->align } },
		.segment_count = layout->in_segment ? 3 : 0,
		.segments = { { .type = PT_LOAD, .file_size = 0x100, .flags = PF_X },
			      { .type = PT_NOTE,
				.offset = 0x400,
				.file_size = other.size,
				.alignment = 4 },
			      { .type = PT_NOTE,
				.offset = 0x6000,
				.file_size = notes.size,
				.alignment = layout->align } },
	};
	make_elf(&elf, ret);
}

static struct build_id read_back(const struct buffer *file)
{
	struct build_id id = { 0 };
	char *directory = make_directory();
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/file", directory) < 0)
		abort();
	make_file(path, file->bytes, file->size);
	CHECK_OK(elf_build_id_read(path, &id));
	make_directory_free(directory);
	return id;
}

static void check_layout(const struct layout *layout)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	make(layout, &file);
	struct build_id id = read_back(&file);
	struct build_id expected = layout->id ? build_id_of(layout->id, layout->id_size)
					      : (struct build_id){ 0 };
	CHECK_TEXT(build_id_text(&id).text, build_id_text(&expected).text);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	REQUIRE_OK(elf_image_open_memory(file.bytes, file.size, "memory", &image));
	CHECK_TEXT(build_id_text(elf_image_id(image)).text, build_id_text(&expected).text);
}

TEST(finds_the_id_in_segments_and_sections_of_both_classes_and_byte_orders)
{
	for (unsigned i = 0; i < 32; i++)
		check_layout(&(struct layout){ .is_32bit = i & 1,
					       .is_big = i & 2,
					       .in_segment = (i & 12) != 0,
					       .in_section = (i & 12) != 4,
					       .align = i & 16 ? 8 : 4,
					       .id_size = 20,
					       .id = id_bytes });
}

TEST(an_id_has_1_to_64_bytes)
{
	for (uint32_t size = 1; size <= 64; size++)
		check_layout(&(struct layout){
			.in_segment = true, .align = 4, .id_size = size, .id = id_bytes });
	static const uint8_t long_id[65] = { 1 };
	_cleanup_buffer_ struct buffer file = { 0 };
	make(&(struct layout){ .in_segment = true, .align = 4, .id_size = 65, .id = long_id },
	     &file);
	CHECK_UINT(read_back(&file).size, 0);
}

TEST(a_zero_or_absent_id_is_none)
{
	check_layout(&(struct layout){
		.in_segment = true, .in_section = true, .align = 4, .id_size = 20, .id = zeros });
	check_layout(&(struct layout){ .in_segment = true, .in_section = true, .align = 8 });
}

TEST(a_core_file_has_no_id_of_its_own)
{
	_cleanup_buffer_ struct buffer notes = { 0 };
	make_note(&notes, false, "GNU", 3, id_bytes, 20, 4);
	struct make_elf elf = {
		.type = ET_CORE,
		.machine = EM_X86_64,
		.has_no_sections = true,
		.section_count = 1,
		.sections = { { .name = "",
				.bytes = notes.bytes,
				.size = notes.size,
				.offset = 0x400 } },
		.segment_count = 1,
		.segments = { { .type = PT_NOTE,
				.offset = 0x400,
				.file_size = notes.size,
				.alignment = 4 } },
	};
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	CHECK_UINT(read_back(&file).size, 0);
}

TEST(what_is_no_elf_file_has_no_id_and_what_is_missing_is_an_error)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	buffer_text(&file, "#!/bin/sh\n");
	CHECK_UINT(read_back(&file).size, 0);
	struct build_id id;
	CHECK_ERROR(elf_build_id_read("/nonexistent/file", &id), IMP_ERR_SYSTEM);
	CHECK_ERROR(elf_build_id_read("/", &id), IMP_ERR_SYSTEM);
}

TEST(no_cut_of_a_file_is_read_beyond_its_end)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	make_library(id_bytes, 20, "", &file);
	for (size_t size = 0; size < file.size; size += size < 512 ? 1 : 37) {
		// In heap memory of just that size, so that a sanitizer sees every step too far.
		_cleanup_free_ void *bytes = malloc(size + 1);
		memcpy(bytes, file.bytes, size);
		struct elf_image *image = NULL;
		struct imp_error *err = elf_image_open_memory(bytes, size, "cut", &image);
		if (err)
			CHECK_UINT(imp_error_code(err), IMP_ERR_BAD_DATA);
		imp_error_free(err);
		elf_image_free(image);
	}
}

TEST(reads_the_ids_of_real_programs)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	_cleanup_free_ char *list = NULL;
	if (asprintf(&list, "%s/recordings/bin/BUILDIDS", shared) < 0)
		abort();
	_cleanup_file_ FILE *file = fopen(list, "r");
	REQUIRE(file);
	char name[256], hex[256];
	unsigned count = 0;
	for (; fscanf(file, "%255s %255s", name, hex) == 2; count++) {
		_cleanup_free_ char *path = NULL;
		if (asprintf(&path, "%s/recordings/bin/%s", shared, name) < 0)
			abort();
		struct build_id id = { 0 };
		CHECK_OK(elf_build_id_read(path, &id));
		CHECK_TEXT(build_id_text(&id).text, hex);
	}
	CHECK_UINT(count, 8);
}
