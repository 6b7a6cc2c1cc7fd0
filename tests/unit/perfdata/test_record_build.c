// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/record_build.h"

#include <string.h>

#include "harness/tap.h"

static const struct mmap_record libm = { .pid = 7,
					 .tid = 8,
					 .start = 0x7f0000001000,
					 .length = 0x2000,
					 .page_offset = 0x1000,
					 .major = 254,
					 .minor = 1,
					 .inode = 4711,
					 .prot = 5,
					 .flags = 2,
					 .path = "/usr/lib/libm.so.6" };

TEST(an_mmap_record_without_an_id_carries_its_inode)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	record_build_mmap(&out, &libm, MISC_USER, NULL);
	struct cursor cursor = cursor_over(out.bytes, out.size);
	CHECK_UINT(cursor_u32(&cursor), RECORD_MMAP2);
	CHECK_UINT(cursor_u16(&cursor), MISC_USER);
	CHECK_UINT(cursor_u16(&cursor), out.size);
	CHECK_UINT(out.size, 72 + 24 + 32);
	cursor_skip(&cursor, 32);
	CHECK_UINT(cursor_u32(&cursor), 254);
	CHECK_UINT(cursor_u32(&cursor), 1);
	CHECK_UINT(cursor_u64(&cursor), 4711);
	cursor_skip(&cursor, 16);
	CHECK_TEXT(cursor_string(&cursor), "/usr/lib/libm.so.6");
}

TEST(setting_an_id_afterwards_gives_the_record_that_was_built_with_it)
{
	uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct mmap_record known = libm;
	known.id = build_id_of(bytes, sizeof bytes);
	_cleanup_buffer_ struct buffer with = { 0 };
	_cleanup_buffer_ struct buffer set = { 0 };
	record_build_mmap(&with, &known, MISC_USER, NULL);
	record_build_mmap(&set, &libm, MISC_USER, NULL);
	CHECK(record_set_build_id(set.bytes, set.size, &known.id));
	CHECK(set.size == with.size && !memcmp(set.bytes, with.bytes, set.size));
	CHECK(!record_set_build_id(set.bytes, set.size, &known.id));
}

// Reads back BYTES, an mmap record, as RET.
static bool read_mmap(const struct buffer *bytes, struct mmap_record *ret)
{
	struct record record = { .type = RECORD_MMAP2,
				 .size = (uint32_t)bytes->size,
				 .bytes = bytes->bytes };
	memcpy(&record.misc, bytes->bytes + 4, sizeof record.misc);
	return !mmap_record_read(&record, ret);
}

// Linux does that to perf when somebody beside it asks for IDs.
TEST(an_inode_whose_record_claims_to_have_an_id_is_no_id)
{
	static const uint32_t majors[] = { 254, 0, 8, 253, 259 };
	for (size_t i = 0; i < sizeof majors / sizeof *majors; i++) {
		struct mmap_record claimed = libm, read;
		_cleanup_buffer_ struct buffer out = { 0 };
		claimed.major = majors[i];
		record_build_mmap(&out, &claimed, MISC_USER | MISC_MMAP_BUILD_ID, NULL);
		REQUIRE(read_mmap(&out, &read));
		CHECK(build_id_is_none(&read.id));
		CHECK(read.has_inode && read.inode == 4711 && read.major == majors[i]);
	}
}

TEST(short_ids_are_read_back)
{
	static const uint32_t sizes[] = { 4, 8, 16, 20 };
	static const uint8_t bytes[20] = { 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6,
					   7,	 8,    9,    10,   0, 0, 0, 0, 0, 1 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct mmap_record known = libm, read;
		_cleanup_buffer_ struct buffer out = { 0 };
		known.id = build_id_of(bytes, sizes[i]);
		record_build_mmap(&out, &known, MISC_USER, NULL);
		REQUIRE(read_mmap(&out, &read));
		CHECK(build_id_equal(&read.id, &known.id));
	}
}

TEST(an_id_of_more_than_20_bytes_does_not_fit_and_the_inode_stays)
{
	uint8_t bytes[32] = { 1 };
	struct build_id id = build_id_of(bytes, sizeof bytes);
	_cleanup_buffer_ struct buffer out = { 0 };
	record_build_mmap(&out, &libm, MISC_USER, NULL);
	CHECK(!record_set_build_id(out.bytes, out.size, &id));
	CHECK(!record_set_build_id(out.bytes, 71, &id));
}

TEST(the_trailer_stands_at_the_end_in_the_order_of_the_kernel)
{
	struct comm_record comm = { .pid = 1, .tid = 2, .comm = "a", .is_exec = true };
	struct stamp stamp = { .pid = 3, .tid = 4, .cpu = 5, .time = 6, .id = 7 };
	_cleanup_buffer_ struct buffer out = { 0 };
	record_build_comm(&out, &comm, &stamp);
	CHECK_UINT(out.size, 24 + WRITTEN_TRAILER_SIZE);
	struct cursor cursor = cursor_over(out.bytes, out.size);
	cursor_skip(&cursor, 24);
	CHECK_UINT(cursor_u32(&cursor), 3);
	CHECK_UINT(cursor_u32(&cursor), 4);
	CHECK_UINT(cursor_u64(&cursor), 6);
	CHECK_UINT(cursor_u32(&cursor), 5);
	cursor_skip(&cursor, 4);
	CHECK_UINT(cursor_u64(&cursor), 7);
}

TEST(a_name_that_is_too_long_for_the_size_field_is_cut)
{
	_cleanup_free_ char *name = malloc(70000);
	REQUIRE(name);
	memset(name, 'x', 69999);
	name[69999] = 0;
	struct mmap_record mmap = libm;
	mmap.path = name;
	_cleanup_buffer_ struct buffer out = { 0 };
	record_build_mmap(&out, &mmap, MISC_USER, NULL);
	CHECK(out.size <= 65528 && out.size % 8 == 0);
	uint16_t size;
	memcpy(&size, out.bytes + 6, sizeof size);
	CHECK_UINT(size, out.size);
}

// What is read of BYTES, marked as having a build ID whether it has one or not.
static struct mmap_record read_marked(const struct buffer *bytes)
{
	struct record record = { .type = RECORD_MMAP2,
				 .misc = MISC_USER | MISC_MMAP_BUILD_ID,
				 .size = (uint32_t)bytes->size,
				 .bytes = bytes->bytes };
	struct mmap_record map = { .pid = 0 };
	CHECK_OK(mmap_record_read(&record, &map));
	return map;
}

TEST(a_record_that_is_only_marked_as_having_an_id_has_its_inode)
{
	// A virtio disk, a SCSI disk's second part, NVMe.
	static const uint32_t devices[][2] = { { 254, 1 }, { 8, 2 }, { 259, 5 } };
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		struct mmap_record plain = libm;
		plain.major = devices[i][0];
		plain.minor = devices[i][1];
		_cleanup_buffer_ struct buffer out = { 0 };
		record_build_mmap(&out, &plain, MISC_USER, NULL);
		struct mmap_record map = read_marked(&out);
		CHECK(build_id_is_none(&map.id));
		CHECK(map.has_inode);
		CHECK_UINT(map.major, plain.major);
		CHECK_UINT(map.inode, 4711);
	}
}

TEST(ids_of_8_16_and_20_bytes_are_ids)
{
	static const uint8_t bytes[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const uint32_t sizes[] = { 8, 16, 20 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct mmap_record known = libm;
		known.id = build_id_of(bytes, sizes[i]);
		_cleanup_buffer_ struct buffer out = { 0 };
		record_build_mmap(&out, &known, MISC_USER, NULL);
		struct mmap_record map = read_marked(&out);
		CHECK(build_id_equal(&map.id, &known.id));
		CHECK(!map.has_inode);
	}
}
