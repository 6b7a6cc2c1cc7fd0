// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The right name, or unknown with the right reason; never a wrong one.
#include "find/finder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "harness/tap.h"
#include "make/elf.h"
#include "store/store.h"
#include "unit/find/place.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3, [19] = 0x10 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3, [19] = 0x20 };

static void put_library(const char *path, const uint8_t *id, uint32_t size, const char *prefix)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	make_library(id, size, prefix, &file);
	make_file(path, file.bytes, file.size);
}

// The same program as a debug file: its segments say nothing of the file.
static void put_debug(const char *path, const uint8_t *id, uint32_t size, const char *prefix)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	make_library(id, size, prefix, &file);
	// p_filesz of the first program header.
	memset(file.bytes + 64 + 32, 0, 8);
	make_file(path, file.bytes, file.size);
}

// A stripped library that refers to its debug file.
static void put_stripped(const char *path, const uint8_t *id, uint32_t size, const char *link,
			 uint32_t checksum)
{
	_cleanup_buffer_ struct buffer note = { 0 };
	_cleanup_buffer_ struct buffer section = { 0 };
	static const uint8_t code[32] = { 0xc3 };
	if (size)
		make_note(&note, false, "GNU", NT_GNU_BUILD_ID, id, size, 4);
	buffer_append(&section, link, strlen(link) + 1);
	while (section.size % 4)
		buffer_append(&section, "", 1);
	buffer_append(&section, &checksum, 4);
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = EM_X86_64,
		.section_count = 3,
		.sections = { { .name = ".text",
				.type = SHT_PROGBITS,
				.bytes = code,
				.size = sizeof code,
				.offset = 0x1000,
				.address = 0x2000,
				.flags = SHF_ALLOC | SHF_EXECINSTR,
				.alignment = 16 },
			      { .name = ".note",
				.type = SHT_NOTE,
				.bytes = note.bytes,
				.size = note.size,
				.alignment = 4,
				.flags = SHF_ALLOC },
			      { .name = ".gnu_debuglink",
				.type = SHT_PROGBITS,
				.bytes = section.bytes,
				.size = section.size,
				.alignment = 4 } },
		.segment_count = 1,
		.segments = { { .type = PT_LOAD,
				.flags = PF_R | PF_X,
				.offset = 0x1000,
				.address = 0x2000,
				.file_size = 0x200,
				.memory_size = 0x200 } },
	};
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	make_file(path, file.bytes, file.size);
}

static struct image image_of(const uint8_t *id, uint32_t size, const char *path)
{
	return (struct image){ .kind = IMAGE_USER,
			       .identity = IDENTITY_MAP_TIME,
			       .id = build_id_of(id, size),
			       .path = path };
}

// What IMAGE's first function is called, or the reason why not. Lent until the next call.
static const char *named(const struct place *place, const struct image *image)
{
	static char answer[256];
	_cleanup_finder_ struct finder *finder = NULL;
	const struct finding *finding = NULL;
	CHECK_OK(finder_new(&place->options, &finder));
	if (finder)
		CHECK_OK(finder_find(finder, image, &finding));
	if (!finding)
		return "error";
	elf_addr address;
	enum unknown_reason reason = finding_address(finding, image, file_off_of(0x1004), &address);
	if (reason != KNOWN)
		return unknown_reason_name(reason);
	_cleanup_symbols_ struct symbols *symbols = NULL;
	struct symbol symbol;
	CHECK_OK(symbols_new(finding->image, finding->debug, &symbols));
	if (!symbols || !symbols_at(symbols, address, &symbol))
		return "no-symbol-at-address";
	snprintf(answer, sizeof answer, "%s%s", symbol.name, finding->is_forced ? " (forced)" : "");
	return answer;
}

TEST(the_right_build_at_the_path_names_the_code)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = place_at(&place, "lib.so");
	put_library(path, id_a, 20, "a_");
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(another_build_at_the_path_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = place_at(&place, "lib.so");
	put_library(path, id_b, 20, "b_");
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "other-build");
	_cleanup_finder_ struct finder *finder = NULL;
	const struct finding *finding;
	REQUIRE_OK(finder_new(&place.options, &finder));
	REQUIRE_OK(finder_find(finder, &image, &finding));
	struct build_id other = build_id_of(id_b, 20);
	CHECK(build_id_equal(&finding->other, &other));
}

TEST(another_build_at_the_path_is_used_by_force_only_and_marked)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = place_at(&place, "lib.so");
	put_library(path, id_b, 20, "b_");
	struct image image = image_of(id_a, 20, path);
	place.options.force = true;
	CHECK_TEXT(named(&place, &image), "b_first (forced)");
	// Force is the last resort: the right build found elsewhere is better.
	put_library(place_at(&place, "images/old"), id_a, 20, "a_");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(the_right_build_is_found_in_directories_whatever_their_layout)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_library(place_at(&place, "lib.so"), id_b, 20, "b_");
	put_library(place_at(&place, "images/deep/below/any.name"), id_a, 20, "a_");
	put_library(place_at(&place, "images/lib.so"), id_b, 20, "b_");
	struct image image = image_of(id_a, 20, place_at(&place, "lib.so"));
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(another_build_in_the_debug_tree_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = place_at(&place, "lib.so");
	put_stripped(path, id_a, 20, "lib.debug", 0);
	struct image image = image_of(id_a, 20, path);
	struct build_id_text text = build_id_text(&image.id);
	char copy[256];
	snprintf(copy, sizeof copy, "%s", path);
	image.path = copy;
	put_debug(place_at(&place, "debug/.build-id/%.2s/%s.debug", text.text, text.text + 2), id_b,
		  20, "b_");
	CHECK_TEXT(named(&place, &image), "no-symbol-at-address");
	put_debug(place_at(&place, "debug/.build-id/%.2s/%s.debug", text.text, text.text + 2), id_a,
		  20, "a_");
	CHECK_TEXT(named(&place, &image), "a_first");
}

static uint32_t checksum_of(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "r");
	uint8_t bytes[65536];
	size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	return (uint32_t)crc32(0, bytes, (uInt)size);
}

TEST(a_debug_link_is_followed_by_id_whatever_its_checksum)
{
	static const char *const places[] = { "bin/lib.debug", "bin/.debug/lib.debug" };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_place_ struct place place;
		place_init(&place);
		put_debug(place_at(&place, "%s", places[i]), id_a, 20, "a_");
		char path[256];
		snprintf(path, sizeof path, "%s", place_at(&place, "bin/lib.so"));
		put_stripped(path, id_a, 20, "lib.debug", 0x12345678);
		struct image image = image_of(id_a, 20, path);
		CHECK_TEXT(named(&place, &image), "a_first");
	}
}

TEST(a_debug_file_whose_checksum_fits_but_whose_id_differs_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(place_at(&place, "bin/lib.debug"), id_b, 20, "b_");
	uint32_t checksum = checksum_of(place_at(&place, "bin/lib.debug"));
	char path[256];
	snprintf(path, sizeof path, "%s", place_at(&place, "bin/lib.so"));
	put_stripped(path, id_a, 20, "lib.debug", checksum);
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "no-symbol-at-address");
}

TEST(a_debug_file_without_an_id_is_taken_by_its_checksum_only)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(place_at(&place, "bin/lib.debug"), NULL, 0, "a_");
	uint32_t checksum = checksum_of(place_at(&place, "bin/lib.debug"));
	char path[256];
	snprintf(path, sizeof path, "%s", place_at(&place, "bin/lib.so"));
	put_stripped(path, id_a, 20, "lib.debug", checksum);
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "a_first");
	put_stripped(path, id_a, 20, "lib.debug", checksum + 1);
	CHECK_TEXT(named(&place, &image), "no-symbol-at-address");
}

TEST(short_and_long_ids_are_ids)
{
	static const uint32_t sizes[] = { 1, 2, 8, 16, 32, 64 };
	static const uint8_t bytes[64] = { 0xcc, 0xdd, 3, [31] = 4, [63] = 5 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		_cleanup_place_ struct place place;
		place_init(&place);
		put_library(place_at(&place, "images/x"), bytes, sizes[i], "a_");
		// Its first bytes are equal, and yet it is another.
		put_library(place_at(&place, "images/y"), bytes, sizes[i] == 64 ? 63 : sizes[i] + 1,
			    "b_");
		struct image image = image_of(bytes, sizes[i], "/nonexistent");
		CHECK_TEXT(named(&place, &image), "a_first");
	}
}

TEST(an_id_whose_length_was_not_recorded_fits_with_zeros_behind_it)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	static const uint8_t padded[20] = { 0xcc, 2, 3, 4, 5, 6, 7, 8 };
	put_library(place_at(&place, "images/x"), padded, 8, "a_");
	struct image image = image_of(padded, 20, "/nonexistent");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	image.id_is_padded = true;
	CHECK_TEXT(named(&place, &image), "a_first");
	struct build_id id = build_id_of(padded, 8);
	struct build_id_text text = build_id_text(&id);
	unlink(place_at(&place, "images/x"));
	put_library(place_at(&place, "debug/.build-id/%.2s/%s", text.text, text.text + 2), padded,
		    8, "d_");
	CHECK_TEXT(named(&place, &image), "d_first");
}

TEST(without_an_id_or_with_a_zero_one_nothing_at_the_path_is_adopted)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = place_at(&place, "lib.so");
	put_library(path, id_a, 20, "a_");
	static const uint8_t zeros[20];
	struct image image = image_of(zeros, 20, path);
	CHECK_TEXT(named(&place, &image), "no-identity");
	image = image_of(id_a, 20, path);
	image.identity = IDENTITY_NONE;
	CHECK_TEXT(named(&place, &image), "no-identity");
	image.identity = IDENTITY_AMBIGUOUS;
	CHECK_TEXT(named(&place, &image), "ambiguous");
	image.identity = IDENTITY_AFTER_THE_FACT;
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(a_file_without_an_id_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	static const uint8_t zeros[20];
	char path[256];
	snprintf(path, sizeof path, "%s", place_at(&place, "lib.so"));
	struct image image = image_of(id_a, 20, path);
	put_library(path, NULL, 0, "a_");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	_cleanup_buffer_ struct buffer file = { 0 };
	make_library(id_a, 20, "a_", &file);
	memcpy(file.bytes + 0x1110, zeros, 20);
	make_file(path, file.bytes, file.size);
	CHECK_TEXT(named(&place, &image), "image-not-found");
}

TEST(of_two_files_of_one_build_the_one_that_tells_more_is_asked_for_names)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_stripped(place_at(&place, "images/1"), id_a, 20, "none", 0);
	put_debug(place_at(&place, "images/2"), id_a, 20, "a_");
	struct image image = image_of(id_a, 20, "/nonexistent");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(a_debug_file_alone_does_not_say_where_an_offset_lies)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(place_at(&place, "images/x.debug"), id_a, 20, "a_");
	struct image image = image_of(id_a, 20, "/nonexistent");
	CHECK_TEXT(named(&place, &image), "image-not-found");
}

TEST(perf_s_cache_is_read_in_its_old_and_its_new_layout)
{
	struct build_id id = build_id_of(id_a, 20);
	struct build_id_text text = build_id_text(&id);
	for (int is_old = 0; is_old < 2; is_old++) {
		_cleanup_place_ struct place place;
		place_init(&place);
		char target[256];
		snprintf(target, sizeof target, "../../usr/lib/x.so/%s", text.text);
		put_library(place_at(&place,
				     is_old ? "perf/usr/lib/x.so/%s" : "perf/usr/lib/x.so/%s/elf",
				     text.text),
			    id_a, 20, "a_");
		CHECK(!symlink(target, place_at(&place, "perf/.build-id/%.2s/%s", text.text,
						text.text + 2)));
		struct image image = image_of(id_a, 20, "/nonexistent");
		CHECK_TEXT(named(&place, &image), "a_first");
	}
}

TEST(an_empty_file_in_debuginfod_s_cache_is_a_miss)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	struct build_id id = build_id_of(id_a, 20);
	struct build_id_text text = build_id_text(&id);
	struct image image = image_of(id_a, 20, "/nonexistent");
	make_file(place_at(&place, "client/%s/executable", text.text), "", 0);
	CHECK_TEXT(named(&place, &image), "image-not-found");
	unlink(place_at(&place, "client/%s/executable", text.text));
	put_library(place_at(&place, "client/%s/executable", text.text), id_b, 20, "b_");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	put_library(place_at(&place, "client/%s/executable", text.text), id_a, 20, "a_");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(symfs_and_sysroot_stand_before_recorded_paths)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_library(place_at(&place, "root/opt/x.so"), id_a, 20, "a_");
	char root[256];
	snprintf(root, sizeof root, "%s/root", place.dir);
	struct image image = image_of(id_a, 20, "/opt/x.so");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	place.options.symfs = root;
	CHECK_TEXT(named(&place, &image), "a_first");
	place.options.symfs = NULL;
	place.options.sysroot = root;
	CHECK_TEXT(named(&place, &image), "a_first");
	image.path = "/opt/x.so (deleted)";
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(what_cannot_be_read_is_said)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	_cleanup_buffer_ struct buffer file = { 0 };
	make_library(id_a, 20, "a_", &file);
	char path[256];
	snprintf(path, sizeof path, "%s", place_at(&place, "lib.ko.xz"));
	// Begins as xz does, and is none.
	buffer_append(&file, "", 1);
	memcpy(file.bytes,
	       "\xfd"
	       "7zXZ",
	       6);
	make_file(path, file.bytes, file.size);
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "unreadable");
	// A pipe at the path must not hold anything up.
	unlink(path);
	CHECK(!mkfifo(path, 0600));
	CHECK_TEXT(named(&place, &image), "image-not-found");
}

TEST(each_step_is_remembered_and_each_image_looked_for_once)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	char path[256];
	snprintf(path, sizeof path, "%s", place_at(&place, "lib.so"));
	put_library(path, id_b, 20, "b_");
	_cleanup_finder_ struct finder *finder = NULL;
	REQUIRE_OK(finder_new(&place.options, &finder));
	struct image image = image_of(id_a, 20, path);
	const struct finding *finding, *again;
	REQUIRE_OK(finder_find(finder, &image, &finding));
	REQUIRE_OK(finder_find(finder, &image, &again));
	CHECK(finding == again);
	bool was_at_path = false;
	for (size_t i = 0; i < finding->step_count; i++) {
		const struct find_step *step = &finding->steps[i];
		if (strcmp(step->source, "path") != 0)
			continue;
		was_at_path = true;
		CHECK_TEXT(step->place, path);
		CHECK_UINT(step->outcome, FIND_OTHER_BUILD);
		CHECK_UINT(step->other.bytes[0], 0xbb);
	}
	CHECK(was_at_path);
	CHECK(finding->step_count >= 5);
}

TEST(generated_code_is_looked_for_nowhere)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	struct image image = { .kind = IMAGE_ANON, .identity = IDENTITY_NONE, .path = "//anon" };
	CHECK_TEXT(named(&place, &image), "anonymous");
}
