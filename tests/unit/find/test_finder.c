// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The right name, or unknown with the right reason; never a wrong one.
#include "find/finder.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "harness/tap.h"
#include "make/elf.h"
#include "store/store.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3, [19] = 0x10 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3, [19] = 0x20 };

// A directory of a test, with a finder that looks nowhere else.
struct place {
	char *dir;
	struct finder_options options;
	const char *image_dirs[2], *debug_dirs[2];
	char image_dir[128], debug_dir[128], cache[128], perf[128];
};

static void place_init(struct place *place)
{
	*place = (struct place){ .dir = make_directory() };
	snprintf(place->image_dir, sizeof place->image_dir, "%s/images", place->dir);
	snprintf(place->debug_dir, sizeof place->debug_dir, "%s/debug", place->dir);
	snprintf(place->cache, sizeof place->cache, "%s/client", place->dir);
	snprintf(place->perf, sizeof place->perf, "%s/perf", place->dir);
	place->image_dirs[0] = place->image_dir;
	place->debug_dirs[0] = place->debug_dir;
	mkdir(place->image_dir, 0777);
	place->options = (struct finder_options){ .image_dirs = place->image_dirs,
						  .debug_dirs = place->debug_dirs,
						  .debuginfod_cache = place->cache,
						  .buildid_dir = place->perf };
}

static void place_fini(struct place *place)
{
	make_directory_free(place->dir);
}

#define _cleanup_place_ __attribute__((cleanup(place_fini)))

// DIR/FORMAT, its directories made; lent until the next call.
static const char *at(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static const char *at(const struct place *place, const char *format, ...)
{
	static char path[1024];
	size_t length = (size_t)snprintf(path, sizeof path, "%s/", place->dir);
	va_list args;
	va_start(args, format);
	vsnprintf(path + length, sizeof path - length, format, args);
	va_end(args);
	for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0777);
		*slash = '/';
	}
	return path;
}

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
	const char *path = at(&place, "lib.so");
	put_library(path, id_a, 20, "a_");
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(another_build_at_the_path_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = at(&place, "lib.so");
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
	const char *path = at(&place, "lib.so");
	put_library(path, id_b, 20, "b_");
	struct image image = image_of(id_a, 20, path);
	place.options.force = true;
	CHECK_TEXT(named(&place, &image), "b_first (forced)");
	// Force is the last resort: the right build found elsewhere is better.
	put_library(at(&place, "images/old"), id_a, 20, "a_");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(the_right_build_is_found_in_directories_whatever_their_layout)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_library(at(&place, "lib.so"), id_b, 20, "b_");
	put_library(at(&place, "images/deep/below/any.name"), id_a, 20, "a_");
	put_library(at(&place, "images/lib.so"), id_b, 20, "b_");
	struct image image = image_of(id_a, 20, at(&place, "lib.so"));
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(another_build_in_the_debug_tree_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = at(&place, "lib.so");
	put_stripped(path, id_a, 20, "lib.debug", 0);
	struct image image = image_of(id_a, 20, path);
	struct build_id_text text = build_id_text(&image.id);
	char copy[256];
	snprintf(copy, sizeof copy, "%s", path);
	image.path = copy;
	put_debug(at(&place, "debug/.build-id/%.2s/%s.debug", text.text, text.text + 2), id_b, 20,
		  "b_");
	CHECK_TEXT(named(&place, &image), "no-symbol-at-address");
	put_debug(at(&place, "debug/.build-id/%.2s/%s.debug", text.text, text.text + 2), id_a, 20,
		  "a_");
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
		put_debug(at(&place, "%s", places[i]), id_a, 20, "a_");
		char path[256];
		snprintf(path, sizeof path, "%s", at(&place, "bin/lib.so"));
		put_stripped(path, id_a, 20, "lib.debug", 0x12345678);
		struct image image = image_of(id_a, 20, path);
		CHECK_TEXT(named(&place, &image), "a_first");
	}
}

TEST(a_debug_file_whose_checksum_fits_but_whose_id_differs_names_nothing)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(at(&place, "bin/lib.debug"), id_b, 20, "b_");
	uint32_t checksum = checksum_of(at(&place, "bin/lib.debug"));
	char path[256];
	snprintf(path, sizeof path, "%s", at(&place, "bin/lib.so"));
	put_stripped(path, id_a, 20, "lib.debug", checksum);
	struct image image = image_of(id_a, 20, path);
	CHECK_TEXT(named(&place, &image), "no-symbol-at-address");
}

TEST(a_debug_file_without_an_id_is_taken_by_its_checksum_only)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(at(&place, "bin/lib.debug"), NULL, 0, "a_");
	uint32_t checksum = checksum_of(at(&place, "bin/lib.debug"));
	char path[256];
	snprintf(path, sizeof path, "%s", at(&place, "bin/lib.so"));
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
		put_library(at(&place, "images/x"), bytes, sizes[i], "a_");
		// Its first bytes are equal, and yet it is another.
		put_library(at(&place, "images/y"), bytes, sizes[i] == 64 ? 63 : sizes[i] + 1,
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
	put_library(at(&place, "images/x"), padded, 8, "a_");
	struct image image = image_of(padded, 20, "/nonexistent");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	image.id_is_padded = true;
	CHECK_TEXT(named(&place, &image), "a_first");
	struct build_id id = build_id_of(padded, 8);
	struct build_id_text text = build_id_text(&id);
	unlink(at(&place, "images/x"));
	put_library(at(&place, "debug/.build-id/%.2s/%s", text.text, text.text + 2), padded, 8,
		    "d_");
	CHECK_TEXT(named(&place, &image), "d_first");
}

TEST(without_an_id_or_with_a_zero_one_nothing_at_the_path_is_adopted)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	const char *path = at(&place, "lib.so");
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
	snprintf(path, sizeof path, "%s", at(&place, "lib.so"));
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
	put_stripped(at(&place, "images/1"), id_a, 20, "none", 0);
	put_debug(at(&place, "images/2"), id_a, 20, "a_");
	struct image image = image_of(id_a, 20, "/nonexistent");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(a_debug_file_alone_does_not_say_where_an_offset_lies)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_debug(at(&place, "images/x.debug"), id_a, 20, "a_");
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
		put_library(at(&place, is_old ? "perf/usr/lib/x.so/%s" : "perf/usr/lib/x.so/%s/elf",
			       text.text),
			    id_a, 20, "a_");
		CHECK(!symlink(target,
			       at(&place, "perf/.build-id/%.2s/%s", text.text, text.text + 2)));
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
	make_file(at(&place, "client/%s/executable", text.text), "", 0);
	CHECK_TEXT(named(&place, &image), "image-not-found");
	unlink(at(&place, "client/%s/executable", text.text));
	put_library(at(&place, "client/%s/executable", text.text), id_b, 20, "b_");
	CHECK_TEXT(named(&place, &image), "image-not-found");
	put_library(at(&place, "client/%s/executable", text.text), id_a, 20, "a_");
	CHECK_TEXT(named(&place, &image), "a_first");
}

TEST(symfs_and_sysroot_stand_before_recorded_paths)
{
	_cleanup_place_ struct place place;
	place_init(&place);
	put_library(at(&place, "root/opt/x.so"), id_a, 20, "a_");
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
	snprintf(path, sizeof path, "%s", at(&place, "lib.ko.xz"));
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
	snprintf(path, sizeof path, "%s", at(&place, "lib.so"));
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

// A real kernel and its modules.
struct kernel_case {
	const char *shared;
	char images[512], kallsyms[512];
	const char *dirs[2];
	struct finder_options options;
};

static bool kernel_case_init(struct kernel_case *test)
{
	*test = (struct kernel_case){ .shared = tap_shared() };
	if (!test->shared)
		return false;
	snprintf(test->images, sizeof test->images, "%s/recordings/kernel-6.1.0-57-cloud",
		 test->shared);
	test->dirs[0] = test->images;
	return true;
}

static struct image kernel_image(const char *hex, enum image_kind kind, const char *path)
{
	struct image image = { .kind = kind, .identity = IDENTITY_MAP_TIME, .path = path };
	CHECK(build_id_parse(hex, &image.id));
	if (kind == IMAGE_KERNEL)
		image.reference_symbol = "_text";
	return image;
}

// The ID of the recorded kernel, from its notes.
static bool kernel_id(const struct kernel_case *test, struct build_id *ret)
{
	char path[600];
	snprintf(path, sizeof path, "%s/vmlinux.symtab.xz", test->images);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	CHECK_OK(elf_image_open(path, &image));
	if (image)
		*ret = *elf_image_id(image);
	return image && ret->size;
}

static const char *kernel_name(const struct finding *finding, const struct image *image,
			       uint64_t offset)
{
	static char name[256];
	elf_addr address;
	enum unknown_reason reason = finding_address(finding, image, file_off_of(offset), &address);
	if (reason != KNOWN)
		return unknown_reason_name(reason);
	_cleanup_symbols_ struct symbols *symbols = NULL;
	struct symbol symbol;
	if (!finding->kallsyms)
		CHECK_OK(symbols_new(finding->image, finding->debug, &symbols));
	if (!symbols_at(finding->kallsyms ? finding->kallsyms : symbols, address, &symbol))
		return NULL;
	snprintf(name, sizeof name, "%s", symbol.name);
	return name;
}

TEST(a_kernel_is_named_by_its_vmlinux_or_by_its_kallsyms_alike)
{
	struct kernel_case test;
	struct image image = { .kind = IMAGE_KERNEL,
			       .identity = IDENTITY_MAP_TIME,
			       .reference_symbol = "_text",
			       .path = "[kernel.kallsyms]_text" };
	if (!kernel_case_init(&test) || !kernel_id(&test, &image.id))
		return;
	_cleanup_finder_ struct finder *by_file = NULL;
	_cleanup_finder_ struct finder *by_symbols = NULL;
	test.options.image_dirs = test.dirs;
	REQUIRE_OK(finder_new(&test.options, &by_file));
	snprintf(test.kallsyms, sizeof test.kallsyms,
		 "%s/recordings/vm-6.1-kernel/state/kallsyms.xz", test.shared);
	test.options = (struct finder_options){ .kallsyms = test.kallsyms };
	REQUIRE_OK(finder_new(&test.options, &by_symbols));
	const struct finding *file, *symbols;
	REQUIRE_OK(finder_find(by_file, &image, &file));
	REQUIRE_OK(finder_find(by_symbols, &image, &symbols));
	CHECK(file->image && !file->kallsyms);
	CHECK(symbols->kallsyms && !symbols->image);
	unsigned named = 0;
	for (uint64_t offset = 0x1000; offset < 0x400000; offset += 0x1357) {
		char first[256];
		const char *name = kernel_name(file, &image, offset);
		snprintf(first, sizeof first, "%s", name ? name : "");
		name = kernel_name(symbols, &image, offset);
		// kallsyms knows no sizes: between functions it still names the one before.
		if (first[0] && name && !strcmp(first, name))
			named++;
	}
	CHECK(named > 500);
	image.id.bytes[0] ^= 1;
	const struct finding *other;
	REQUIRE_OK(finder_find(by_symbols, &image, &other));
	CHECK(!other->kallsyms);
}

TEST(a_kernel_is_named_by_the_symbols_that_the_store_kept_of_it)
{
	static const char text[] = "ffffffff9a000000 T _text\n"
				   "ffffffff9a001000 T the_function\n"
				   "ffffffff9a002000 T the_next\n";
	_cleanup_place_ struct place place;
	place_init(&place);
	char dir[160];
	snprintf(dir, sizeof dir, "%s/store", place.dir);
	struct image image = kernel_image("00112233445566778899aabbccddeeff00112233", IMAGE_KERNEL,
					  "[kernel.kallsyms]");
	struct store *store = NULL;
	struct store_item item = { .id = image.id,
				   .role = STORE_KALLSYMS,
				   .path = "[kernel.kallsyms]" };
	REQUIRE_OK(store_open(dir, STORE_WRITE, NULL, &store));
	CHECK_OK(store_add_memory(store, &item, text, sizeof text - 1, NULL));
	store_free(store);
	place.options.store_dir = dir;
	_cleanup_finder_ struct finder *finder = NULL;
	const struct finding *finding, *other;
	REQUIRE_OK(finder_new(&place.options, &finder));
	REQUIRE_OK(finder_find(finder, &image, &finding));
	CHECK(finding->kallsyms);
	if (finding->kallsyms)
		CHECK_TEXT(kernel_name(finding, &image, 0x1004), "the_function");
	image.id.bytes[0] ^= 1;
	REQUIRE_OK(finder_find(finder, &image, &other));
	CHECK(!other->kallsyms);
}

TEST(a_module_is_found_by_id_among_builds_of_one_name)
{
	struct kernel_case test;
	if (!kernel_case_init(&test))
		return;
	test.options.image_dirs = test.dirs;
	_cleanup_finder_ struct finder *finder = NULL;
	REQUIRE_OK(finder_new(&test.options, &finder));
	static const char *const expected[] = { "m1_sort.constprop.0", "m2_crypt.constprop.0" };
	for (int build = 1; build <= 2; build++) {
		char path[700];
		snprintf(path, sizeof path, "%s/ko/vmfixmod.build%d.ko.xz", test.images, build);
		_cleanup_elf_image_ struct elf_image *file = NULL;
		REQUIRE_OK(elf_image_open(path, &file));
		struct build_id_text text = build_id_text(elf_image_id(file));
		struct image image = kernel_image(text.text, IMAGE_MODULE, "[vmfixmod]");
		const struct finding *finding;
		REQUIRE_OK(finder_find(finder, &image, &finding));
		CHECK_TEXT(kernel_name(finding, &image, 0x10), expected[build - 1]);
	}
}

TEST(a_module_is_named_by_kallsyms_only_when_its_own_id_is_known_to_be_equal)
{
	struct kernel_case test;
	if (!kernel_case_init(&test))
		return;
	snprintf(test.kallsyms, sizeof test.kallsyms,
		 "%s/recordings/vm-6.1-kernel/state/kallsyms.xz", test.shared);
	test.options = (struct finder_options){ .kallsyms = test.kallsyms };
	_cleanup_finder_ struct finder *finder = NULL;
	REQUIRE_OK(finder_new(&test.options, &finder));
	struct image image = kernel_image("2e5f240e1cd303d5436dcc890b100b025982fa12", IMAGE_MODULE,
					  "/lib/modules/x/kernel/fs/btrfs/btrfs.ko");
	const struct finding *finding;
	REQUIRE_OK(finder_find(finder, &image, &finding));
	CHECK_TEXT(kernel_name(finding, &image, 0x10), "__traceiter_btrfs_transaction_commit");
	image.id.bytes[3] ^= 1;
	REQUIRE_OK(finder_find(finder, &image, &finding));
	CHECK(finding->reason != KNOWN);
}

TEST(the_vdso_of_this_kernel_is_found_in_memory)
{
	_cleanup_finder_ struct finder *finder = NULL;
	struct finder_options options = { 0 };
	REQUIRE_OK(finder_new(&options, &finder));
	struct image image = { .kind = IMAGE_VDSO,
			       .identity = IDENTITY_MAP_TIME,
			       .path = "[vdso]" };
	CHECK(build_id_parse("1234567890", &image.id));
	const struct finding *finding;
	REQUIRE_OK(finder_find(finder, &image, &finding));
	struct build_id own = { 0 };
	for (size_t i = 0; i < finding->step_count; i++)
		if (!strcmp(finding->steps[i].source, "own vdso"))
			own = finding->steps[i].other;
	if (!own.size) {
		tap_skip("no vdso here");
		return;
	}
	image.id = own;
	REQUIRE_OK(finder_find(finder, &image, &finding));
	CHECK_UINT(finding->reason, KNOWN);
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE(finding->image);
	REQUIRE_OK(symbols_new(finding->image, finding->debug, &symbols));
	struct symbol symbol;
	CHECK(symbols_named(symbols, "__vdso_clock_gettime", &symbol));
}
