// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "model/elf_face.h"

#include <elf.h>
#include <string.h>

#include "harness/tap.h"
#include "model/elf_note.h"

// A property note padded to 8, then a build ID of 20 bytes, then package metadata.
struct notes {
	Elf64_Nhdr build_id;
	char gnu[4];
	uint8_t id[20];
	Elf64_Nhdr package;
	char fdo[4];
	char json[16];
};

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
	struct notes notes;
	Elf64_Dyn dynamic[3];
	char strings[16];
};

enum { LOAD_ADDRESS = 0x400000, BASE = 0x7f000000 };

static struct image make_image(void)
{
	struct image image = {
		.header = { .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_phoff = offsetof(struct image, segments),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3 },
		.notes = { .build_id = { 4, 20, NT_GNU_BUILD_ID },
			   .gnu = "GNU",
			   .package = { 4, 16, NOTE_FDO_PACKAGE },
			   .fdo = "FDO",
			   .json = "{\"name\":\"zlib\"}" },
		.dynamic = { { DT_STRTAB, { LOAD_ADDRESS + offsetof(struct image, strings) } },
			     { DT_SONAME, { 1 } },
			     { DT_NULL, { 0 } } },
		.strings = "\0libz.so.1",
	};
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	memset(image.notes.id, 0xab, sizeof image.notes.id);
	image.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					  .p_vaddr = LOAD_ADDRESS,
					  .p_filesz = sizeof image,
					  .p_memsz = sizeof image + 100 };
	image.segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					  .p_offset = offsetof(struct image, notes),
					  .p_vaddr = LOAD_ADDRESS + offsetof(struct image, notes),
					  .p_filesz = sizeof image.notes,
					  .p_align = 4 };
	image.segments[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
					  .p_offset = offsetof(struct image, dynamic),
					  .p_vaddr = LOAD_ADDRESS + offsetof(struct image, dynamic),
					  .p_filesz = sizeof image.dynamic };
	return image;
}

struct memory {
	const void *bytes;
	size_t size;
};

static size_t memory_read(void *arg, uint64_t offset, void *bytes, size_t size)
{
	const struct memory *memory = arg;
	if (offset >= memory->size)
		return 0;
	if (size > memory->size - offset)
		size = memory->size - offset;
	memcpy(bytes, (const uint8_t *)memory->bytes + offset, size);
	return size;
}

TEST(reads_id_package_and_soname_of_a_file)
{
	struct image image = make_image();
	struct memory memory = { &image, sizeof image };
	struct elf_face face;
	elf_face_read(&(struct byte_source){ .read = memory_read, .arg = &memory }, &face);
	CHECK(face.is_elf && face.is_64bit && !face.swap);
	CHECK_TEXT(build_id_text(&face.id).text, "abababababababababababababababababababab");
	CHECK_TEXT(face.package, "{\"name\":\"zlib\"}");
	CHECK_TEXT(face.soname, "libz.so.1");
	CHECK_UINT(face.memory_size, sizeof image + 100);
}

TEST(reads_a_loaded_image_by_its_addresses)
{
	struct image image = make_image();
	// In memory only addresses hold.
	image.segments[1].p_offset = 0xffffff;
	image.segments[2].p_offset = 0xffffff;
	// The C library's loader leaves the absolute address of the strings.
	image.dynamic[0].d_un.d_ptr = BASE + offsetof(struct image, strings);
	struct memory memory = { &image, sizeof image };
	struct byte_source source = { memory_read, &memory, true, BASE };
	struct elf_face face;
	elf_face_read(&source, &face);
	CHECK_UINT(face.id.size, 20);
	CHECK_TEXT(face.soname, "libz.so.1");
	struct build_id id = elf_face_id(&source);
	CHECK(build_id_equal(&id, &face.id));
}

TEST(survives_every_truncation)
{
	struct image image = make_image();
	for (size_t size = 0; size < sizeof image; size++) {
		struct memory memory = { &image, size };
		struct elf_face face;
		elf_face_read(&(struct byte_source){ .read = memory_read, .arg = &memory }, &face);
		CHECK(face.is_elf == (size >= offsetof(Elf64_Ehdr, e_shentsize)));
		CHECK(face.id.size == 0 || size >= offsetof(struct image, notes.package));
		CHECK(!face.soname[0] || size > offsetof(struct image, strings) + 10);
	}
}

TEST(padding_follows_the_alignment_of_the_segment)
{
	// In a segment aligned to 8 a name of 4 bytes ends at 16, a descriptor of 4 is padded to 8.
	const uint32_t padded_to_8[] = { 4, 4, 5, 0x00554e47, 7,	  0,
					 4, 8, 3, 0x00554e47, 0x11111111, 0x22222222 };
	struct build_id id = build_id_in_notes(padded_to_8, sizeof padded_to_8, 8, false);
	CHECK_TEXT(build_id_text(&id).text, "1111111122222222");
	id = build_id_in_notes(padded_to_8, sizeof padded_to_8, 4, false);
	CHECK(build_id_is_none(&id));
}

TEST(notes_of_another_byte_order_are_swapped)
{
	const uint32_t swapped[] = { __builtin_bswap32(4), __builtin_bswap32(4),
				     __builtin_bswap32(3), 0x00554e47, 0x04030201 };
	struct build_id id = build_id_in_notes(swapped, sizeof swapped, 4, true);
	CHECK_TEXT(build_id_text(&id).text, "01020304");
	id = build_id_in_notes(swapped, sizeof swapped, 4, false);
	CHECK(build_id_is_none(&id));
}

TEST(a_note_that_does_not_fit_ends_the_walk)
{
	const uint32_t huge[] = { 4, 0xffffffff, 3, 0x00554e47, 1 };
	struct build_id id = build_id_in_notes(huge, sizeof huge, 4, false);
	CHECK(build_id_is_none(&id));
	// Same owner, other type; same type, other owner.
	const uint32_t other[] = { 4, 4, 1, 0x00554e47, 1, 4, 4, 3, 0x004f4446, 1 };
	id = build_id_in_notes(other, sizeof other, 4, false);
	CHECK(build_id_is_none(&id));
}
