// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/jit_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "harness/tap.h"

// Dumps made in code, of either byte order.
struct built {
	struct buffer bytes;
	bool swap;
};

static void put(struct built *built, uint64_t value, size_t size)
{
	uint8_t bytes[8];
	for (size_t i = 0; i < size; i++)
		bytes[built->swap ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	buffer_append(&built->bytes, bytes, size);
}

static void put_header(struct built *built, uint32_t version)
{
	put(built, 0x4a695444, 4);
	put(built, version, 4);
	put(built, 40, 4);
	put(built, 62, 4);
	put(built, 0, 4);
	put(built, 77, 4);
	put(built, 5000, 8);
	put(built, 0, 8);
}

// Code of SIZE bytes, called NAME, at ADDRESS from TIME on.
static void put_load(struct built *built, uint64_t time, uint64_t address, uint64_t size,
		     uint64_t index, const char *name)
{
	size_t length = strlen(name) + 1;
	put(built, 0, 4);
	put(built, 16 + 40 + length + size, 4);
	put(built, time, 8);
	put(built, 77, 4);
	put(built, 77, 4);
	put(built, address, 8);
	put(built, address, 8);
	put(built, size, 8);
	put(built, index, 8);
	buffer_append(&built->bytes, name, length);
	for (uint64_t i = 0; i < size; i++)
		put(built, 0xcc, 1);
}

static void put_move(struct built *built, uint64_t time, uint64_t from, uint64_t to, uint64_t index)
{
	put(built, 1, 4);
	put(built, 16 + 48, 4);
	put(built, time, 8);
	put(built, 77, 4);
	put(built, 77, 4);
	put(built, from, 8);
	put(built, from, 8);
	put(built, to, 8);
	put(built, 16, 8);
	put(built, index, 8);
}

static struct jit_dump *parsed(struct built *built)
{
	struct jit_dump *dump = NULL;
	CHECK_OK(jit_dump_parse(built->bytes.bytes, built->bytes.size, &dump));
	buffer_fini(&built->bytes);
	return dump;
}

static void check_both_orders(bool swap)
{
	struct built built = { .swap = swap };
	put_header(&built, 1);
	put_load(&built, 6000, 0x1000, 16, 1, "first");
	put_load(&built, 7000, 0x1000, 32, 2, "second");
	put_move(&built, 8000, 0x1000, 0x2000, 1);
	struct jit_dump *dump = parsed(&built);
	REQUIRE(dump);
	CHECK_UINT(jit_dump_pid(dump), 77);
	REQUIRE(jit_dump_placement_count(dump) == 3);
	const struct jit_placement *first = jit_dump_placement(dump, 0);
	const struct jit_placement *second = jit_dump_placement(dump, 1);
	const struct jit_placement *moved = jit_dump_placement(dump, 2);
	CHECK_UINT(first->time_ns, 6000);
	CHECK_UINT(first->address, 0x1000);
	CHECK_UINT(first->size, 16);
	CHECK_UINT(second->size, 32);
	CHECK(second->offset > first->offset);
	CHECK_UINT(moved->address, 0x2000);
	CHECK_UINT(moved->offset, first->offset);
	struct jit_function function;
	REQUIRE(jit_dump_function_at(dump, first->offset + 15, &function));
	CHECK_TEXT(function.name, "first");
	CHECK(!jit_dump_function_at(dump, first->offset + 16, &function));
	CHECK(!jit_dump_function_at(dump, first->offset - 1, &function));
	REQUIRE(jit_dump_function_at(dump, second->offset, &function));
	CHECK_TEXT(function.name, "second");
	jit_dump_free(dump);
}

TEST(functions_are_known_by_where_their_code_is_in_the_file)
{
	check_both_orders(false);
	check_both_orders(true);
}

TEST(what_came_before_a_cut_is_kept)
{
	struct built built = { .swap = false };
	put_header(&built, 1);
	size_t header = built.bytes.size;
	put_load(&built, 6000, 0x1000, 16, 1, "first");
	size_t whole = built.bytes.size;
	put_load(&built, 7000, 0x2000, 16, 2, "second");
	for (size_t size = 0; size <= built.bytes.size; size++) {
		struct jit_dump *dump = NULL;
		_cleanup_error_ struct imp_error *err =
			jit_dump_parse(built.bytes.bytes, size, &dump);
		CHECK(!err == (size >= header));
		if (dump)
			CHECK_UINT(jit_dump_placement_count(dump), size == built.bytes.size ? 2
								   : size >= whole	    ? 1
											    : 0);
		jit_dump_free(dump);
	}
	buffer_fini(&built.bytes);
}

TEST(code_that_is_longer_than_its_record_has_no_name)
{
	struct built built = { .swap = false };
	put_header(&built, 1);
	put_load(&built, 6000, 0x1000, 16, 1, "lies");
	// Its size: 16 more than is there.
	built.bytes.bytes[40 + 16 + 24] = 32;
	put_load(&built, 7000, UINT64_MAX - 8, 16, 2, "beyond");
	put_load(&built, 8000, 0x3000, 16, 3, "good");
	struct jit_dump *dump = parsed(&built);
	REQUIRE(dump);
	REQUIRE(jit_dump_placement_count(dump) == 1);
	CHECK_UINT(jit_dump_placement(dump, 0)->address, 0x3000);
	jit_dump_free(dump);
}

TEST(other_files_are_refused)
{
	struct built built = { .swap = false };
	struct jit_dump *dump = NULL;
	put_header(&built, 2);
	CHECK_ERROR(jit_dump_parse(built.bytes.bytes, built.bytes.size, &dump),
		    IMP_ERR_UNSUPPORTED);
	built.bytes.bytes[0] ^= 1;
	CHECK_ERROR(jit_dump_parse(built.bytes.bytes, built.bytes.size, &dump), IMP_ERR_BAD_DATA);
	buffer_fini(&built.bytes);
	CHECK_OK(jit_dump_open("/nonexistent/jit-1.dump", &dump));
	CHECK(!dump);
}
