// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A real kernel, its modules, the vdso: files by their IDs, names by symbols or kallsyms.
#include "find/finder.h"

#include <fcntl.h>
#include <string.h>

#include "harness/tap.h"
#include "make/elf.h"
#include "store/store.h"
#include "unit/find/place.h"

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
