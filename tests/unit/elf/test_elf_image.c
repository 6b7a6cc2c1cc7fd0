// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/elf_image.h"

#include <fcntl.h>
#include <string.h>

#include "harness/tap.h"
#include "make/elf.h"

static const uint8_t id_bytes[20] = { 0xab, 1, 2, 3 };

// The segments that lld 14 gives a small library: each with a bias of its own, and the last bytes
// of one in the first page of the next.
static void make_lld_layout(bool is_32bit, bool is_big, struct buffer *ret)
{
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.is_32bit = is_32bit,
		.is_big_endian = is_big,
		.segment_count = 4,
		.segments = { { .type = PT_LOAD,
				.flags = PF_R,
				.offset = 0,
				.address = 0,
				.file_size = 0x7bc,
				.memory_size = 0x7bc,
				.alignment = 0x1000 },
			      { .type = PT_LOAD,
				.flags = PF_R | PF_X,
				.offset = 0x7c0,
				.address = 0x17c0,
				.file_size = 0x150,
				.memory_size = 0x150,
				.alignment = 0x1000 },
			      { .type = PT_LOAD,
				.flags = PF_R | PF_W,
				.offset = 0x910,
				.address = 0x2910,
				.file_size = 0x100,
				.memory_size = 0x200,
				.alignment = 0x1000 },
			      // The bytes of the code once more, for writing.
			      { .type = PT_LOAD,
				.flags = PF_R | PF_W,
				.offset = 0x700,
				.address = 0x9000,
				.file_size = 0x200,
				.memory_size = 0x200,
				.alignment = 0x1000 } },
	};
	make_elf(&elf, ret);
}

TEST(an_offset_becomes_an_address_by_the_segment_that_covers_it)
{
	for (unsigned i = 0; i < 4; i++) {
		_cleanup_buffer_ struct buffer file = { 0 };
		make_lld_layout(i & 1, i & 2, &file);
		_cleanup_elf_image_ struct elf_image *image = NULL;
		REQUIRE_OK(elf_image_open_memory(file.bytes, file.size, "lld", &image));
		CHECK_UINT(elf_image_segment_count(image), 4);
		CHECK_UINT(elf_image_is_64bit(image), !(i & 1));
		elf_addr address = { 0 };
		CHECK(elf_image_address(image, file_off_of(0x7c0), &address));
		CHECK_UINT(address.value, 0x17c0);
		CHECK(elf_image_address(image, file_off_of(0x7bb), &address));
		CHECK_UINT(address.value, 0x7bb);
		// Only the writable twin covers 0x7bc.
		CHECK(elf_image_address(image, file_off_of(0x7bc), &address));
		CHECK_UINT(address.value, 0x90bc);
		CHECK(elf_image_address(image, file_off_of(0x90f), &address));
		CHECK_UINT(address.value, 0x190f);
		CHECK(elf_image_address(image, file_off_of(0x910), &address));
		CHECK_UINT(address.value, 0x2910);
		// The zeroed tail is in memory only.
		CHECK(!elf_image_address(image, file_off_of(0xa10), &address));
		CHECK(elf_image_has_layout(image));
	}
}

TEST(a_split_debug_file_of_objcopy_has_no_layout)
{
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.segment_count = 1,
		.segments = { { .type = PT_LOAD,
				.flags = PF_R | PF_X,
				.offset = 0x1000,
				.address = 0x1000,
				.memory_size = 0x100 } },
	};
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	REQUIRE_OK(elf_image_open_memory(file.bytes, file.size, "debug", &image));
	elf_addr address;
	CHECK(!elf_image_address(image, file_off_of(0x1000), &address));
	CHECK(!elf_image_has_layout(image));
}

// A library whose code is ".init" of 0x20 bytes at INIT and ".text" of SIZE bytes at TEXT.
static void with_code(uint64_t init, uint64_t text, uint64_t size, struct elf_image **ret)
{
	enum { CODE = SHF_ALLOC | SHF_EXECINSTR };
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.section_count = 2,
		.sections = { { .name = ".init",
				.type = SHT_NOBITS,
				.flags = CODE,
				.address = init,
				.size = 0x20 },
			      { .name = ".text",
				.type = SHT_NOBITS,
				.flags = CODE,
				.address = text,
				.size = size } },
	};
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	REQUIRE_OK(elf_image_open_memory(file.bytes, file.size, "code", ret));
}

TEST(files_of_one_link_differ_by_one_distance_and_others_contradict)
{
	static const struct {
		uint64_t init, text, size;
		bool is_one_link;
		uint64_t shift;
	} rows[] = {
		{ 0x31000, 0x31020, 0x500, true, 0 },
		// Before prelink moved the image from 0 to 0x30000.
		{ 0x1000, 0x1020, 0x500, true, 0 - UINT64_C(0x30000) },
		{ 0x31000, 0x31030, 0x500, false, 0 },
		{ 0x31000, 0x31020, 0x501, false, 0 },
		// BOLT leaves .init where it is, and moves .text.
		{ 0x31000, 0x401020, 0x500, false, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_elf_image_ struct elf_image *image = NULL;
		_cleanup_elf_image_ struct elf_image *other = NULL;
		with_code(0x31000, 0x31020, 0x500, &image);
		with_code(rows[i].init, rows[i].text, rows[i].size, &other);
		if (!image || !other)
			return;
		uint64_t shift;
		CHECK_UINT(elf_image_shift(image, other, &shift), rows[i].is_one_link);
		if (rows[i].is_one_link)
			CHECK_UINT(shift, rows[i].shift);
	}
}

TEST(an_elf_file_may_begin_inside_another_file)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	char *directory = make_directory();
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/base.apk", directory) < 0)
		abort();
	memset(buffer_extend(&file, 0x3800), 'z', 0x3800);
	make_library(id_bytes, 20, "", &file);
	make_file(path, file.bytes, file.size);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct build_id id = { 0 };
	CHECK_OK(elf_build_id_read_fd(fd, path, 0x3800, &id));
	CHECK_UINT(id.size, 20);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	CHECK_OK(elf_image_open_fd(fd, path, 0x3800, &image));
	make_directory_free(directory);
	REQUIRE(image);
	CHECK_UINT(elf_image_id(image)->bytes[0], 0xab);
	CHECK(elf_image_has_symtab(image));
	CHECK(!elf_image_has_dynsym(image));
	CHECK(!elf_image_has_dwarf(image));
	const struct elf_section *text = elf_image_section_named(image, ".text");
	REQUIRE(text);
	CHECK_UINT(elf_image_section_bytes(image, text).size, 32);
}

TEST(what_is_no_elf_file_is_refused)
{
	struct elf_image *image = NULL;
	CHECK_ERROR(elf_image_open_memory("", 0, "empty", &image), IMP_ERR_BAD_DATA);
	CHECK_ERROR(elf_image_open_memory("plain text", 10, "text", &image), IMP_ERR_BAD_DATA);
	CHECK_ERROR(elf_image_open("/dev/null", &image), IMP_ERR_BAD_DATA);
	CHECK_ERROR(elf_image_open("/nonexistent", &image), IMP_ERR_SYSTEM);
	CHECK(image == NULL);
}

TEST(opens_compressed_modules_and_kernels)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/recordings/kernel-6.1.0-57-cloud/ko/bridge.ko.xz", shared) < 0)
		abort();
	_cleanup_elf_image_ struct elf_image *image = NULL;
	REQUIRE_OK(elf_image_open(path, &image));
	CHECK_TEXT(build_id_text(elf_image_id(image)).text,
		   "21ad261c545652fdcd9b3bee4e794810dce4c71d");
	CHECK_UINT(elf_image_type(image), ELF_RELOCATABLE);
	CHECK(elf_image_has_symtab(image));
	CHECK(elf_image_section_named(image, ".text") != NULL);
}
