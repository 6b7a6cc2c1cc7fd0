// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names in a store.
#include <string.h>

#include "harness/tap.h"
#include "store/layout.h"
#include "unit/store/scratch.h"

TEST(object_names_are_read_back)
{
	struct store_object object = { .role = STORE_KCORE_NOTES, .rank = STORE_MINI };
	memset(object.hash.bytes, 0xa5, sizeof object.hash.bytes);
	struct object_name name = object_name_of(&object);
	CHECK_TEXT(name.text, "kcore.mini."
			      "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5");
	struct store_object read = { 0 };
	CHECK(object_name_parse(name.text, &read));
	CHECK(read.role == object.role && read.rank == object.rank);
	CHECK(store_hash_equal(&read.hash, &object.hash));
}

TEST(other_files_of_an_entry_are_no_objects)
{
	static const char *const names[] = {
		"elf",
		"journal",
		"executable.dwarf.",
		"executable.dwarf.a5a5",
		"program.dwarf.a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
		"debug.best.a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
		"debug.dwarf.g5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
		"debug.dwarf.a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
	};
	struct store_object read = { 0 };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(!object_name_parse(names[i], &read));
}

TEST(entries_stand_under_their_first_byte)
{
	struct build_id id = id_of("abcdef0123");
	struct entry_name name = entry_name_of(&id, NULL);
	CHECK_TEXT(entry_dir_of(&name).text, ".build-id/ab/cdef0123");
	id = id_of("ab");
	name = entry_name_of(&id, NULL);
	CHECK_TEXT(entry_dir_of(&name).text, ".build-id/ab/_");
	struct build_id none = { 0 };
	struct store_hash hash = { { 0x12, 0x34 } };
	name = entry_name_of(&none, &hash);
	CHECK(name.is_hash);
	CHECK_UINT(strlen(entry_dir_of(&name).text), strlen(".imprint/hashes/12/") + 64);
}

TEST(shards_never_move)
{
	// Part of the layout on disk: CRC-32, its lowest twelve bits.
	CHECK_TEXT(shard_of("abcdef").text, "ab");
	CHECK_TEXT(shard_of_path("[vdso]").text, shard_of_path("[vdso]/").text);
	CHECK_TEXT(shard_of_path("123456789/a").text, "926");
	CHECK_TEXT(shard_of_path("123456789/b c").text, "926");
	CHECK_TEXT(shard_of_path("/a").text, "000");
}
