// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "dwarf/split_package.h"

#include <string.h>

#include "harness/tap.h"
#include "make/elf.h"

static const uint64_t id = UINT64_C(0x1122334400000001);

static void put_u32(struct buffer *ret, uint32_t value)
{
	buffer_append(ret, &value, sizeof value);
}

static void put_u64(struct buffer *ret, uint64_t value)
{
	buffer_append(ret, &value, sizeof value);
}

// Two units in four slots: `id` has [16, 48) of .debug_info.dwo and [8, 24) of .debug_abbrev.dwo.
static void put_index(struct buffer *ret, uint32_t version)
{
	put_u32(ret, version);
	put_u32(ret, 2);
	put_u32(ret, 2);
	put_u32(ret, 4);
	put_u64(ret, 0);
	put_u64(ret, id + 4);
	// Its own slot, 1, is taken: it is a step of (id >> 32 & 3) | 1 = 1 behind.
	put_u64(ret, id);
	put_u64(ret, 0);
	static const uint32_t rows[] = { 0, 1, 2, 0 }, columns[] = { 1, 3 };
	static const uint32_t offsets[] = { 0, 0, 16, 8 }, sizes[] = { 16, 8, 32, 16 };
	buffer_append(ret, rows, sizeof rows);
	buffer_append(ret, columns, sizeof columns);
	buffer_append(ret, offsets, sizeof offsets);
	buffer_append(ret, sizes, sizeof sizes);
}

// A package with the first SIZE bytes of INDEX.
static struct elf_image *package(const struct buffer *index, size_t size)
{
	static const uint8_t bytes[64] = { 1, 2, 3 };
	struct make_elf elf = { .type = ET_REL, .machine = EM_X86_64, .section_count = 3 };
	_cleanup_buffer_ struct buffer file = { 0 };
	struct elf_image *image = NULL;
	elf.sections[0] = (struct make_section){ .name = ".debug_info.dwo",
						 .type = SHT_PROGBITS,
						 .bytes = bytes,
						 .size = sizeof bytes };
	elf.sections[1] = elf.sections[0];
	elf.sections[1].name = ".debug_abbrev.dwo";
	elf.sections[2] = (struct make_section){
		.name = ".debug_cu_index", .type = SHT_PROGBITS, .bytes = index->bytes, .size = size
	};
	make_elf(&elf, &file);
	CHECK_OK(elf_image_open_memory(file.bytes, file.size, "package", &image));
	return image;
}

static bool narrow(const struct buffer *index, size_t size, uint64_t wanted,
		   struct debug_sections *sections)
{
	struct elf_image *image = package(index, size);
	bool found = false;
	*sections = (struct debug_sections){ 0 };
	CHECK_OK(debug_sections_open_split(image, sections));
	const uint8_t *info = sections->all[DEBUG_INFO].bytes;
	CHECK(info != NULL);
	found = split_package_narrow(image, wanted, sections);
	if (found && wanted == id)
		CHECK(sections->all[DEBUG_INFO].bytes == info + 16);
	elf_image_free(image);
	return found;
}

TEST(an_id_leads_to_its_parts_of_the_sections)
{
	for (uint32_t version = 2; version <= 5; version += 3) {
		_cleanup_buffer_ struct buffer index = { 0 };
		struct debug_sections sections;
		put_index(&index, version);
		CHECK(narrow(&index, index.size, id, &sections));
		CHECK_UINT(sections.all[DEBUG_INFO].size, 32);
		CHECK_UINT(sections.all[DEBUG_ABBREV].size, 16);
		CHECK(narrow(&index, index.size, id + 4, &sections));
		CHECK_UINT(sections.all[DEBUG_INFO].size, 16);
		CHECK(!narrow(&index, index.size, id + 8, &sections));
	}
}

TEST(an_index_that_is_cut_or_points_outside_has_nothing)
{
	_cleanup_buffer_ struct buffer index = { 0 };
	struct debug_sections sections;
	put_index(&index, 5);
	for (size_t size = 0; size < index.size; size++)
		CHECK(!narrow(&index, size, id, &sections));
	// The last four bytes are the size of the second column.
	index.bytes[index.size - 4] = 60;
	CHECK(!narrow(&index, index.size, id, &sections));
	CHECK(narrow(&index, index.size, id + 4, &sections));
}

TEST(an_index_full_of_other_ids_ends_the_search)
{
	_cleanup_buffer_ struct buffer index = { 0 };
	struct debug_sections sections;
	put_index(&index, 5);
	// All four slots are taken.
	for (size_t slot = 0; slot < 4; slot++) {
		uint32_t row = 1;
		memcpy(index.bytes + 16 + 32 + 4 * slot, &row, sizeof row);
		memset(index.bytes + 16 + 8 * slot, 0x77, 8);
	}
	CHECK(!narrow(&index, index.size, id, &sections));
}
