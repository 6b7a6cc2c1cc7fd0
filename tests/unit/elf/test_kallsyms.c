// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/kallsyms.h"

#include "harness/tap.h"

static struct kallsyms *parse(const char *text)
{
	struct buffer buffer = { 0 };
	struct kallsyms *kallsyms = NULL;
	buffer_text(&buffer, text);
	CHECK_OK(kallsyms_parse(&buffer, &kallsyms));
	return kallsyms;
}

static const char *name_at(const struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;
	return symbols_at(symbols, elf_addr_of(address), &symbol) ? symbol.name : NULL;
}

static const char example[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffffb7c00000 T _stext\n"
			      "ffffffffb7c00000 T _text\n"
			      "ffffffffb7c00000 T startup_64\n"
			      "ffffffffb7c00040 t helper\n"
			      "ffffffffb7c00100 W weak_one\n"
			      "ffffffffb7c00200 D some_data\n"
			      "not a line\n"
			      "ffffffffc0728000 t m1_sort\t[vmfixmod]\n"
			      "ffffffffc0728400 t m1_hash\t[vmfixmod]\n"
			      "ffffffffc0729000 r _note_10\t[vmfixmod]\n"
			      "ffffffffc0800000 t other\t[loop]";

TEST(the_kernel_and_each_module_have_tables_of_their_own)
{
	_cleanup_kallsyms_ struct kallsyms *kallsyms = parse(example);
	REQUIRE(kallsyms && !kallsyms_is_hidden(kallsyms));
	_cleanup_symbols_ struct symbols *kernel = NULL;
	_cleanup_symbols_ struct symbols *module = NULL;
	_cleanup_symbols_ struct symbols *missing = NULL;
	REQUIRE_OK(kallsyms_symbols(kallsyms, NULL, &kernel));
	REQUIRE_OK(kallsyms_symbols(kallsyms, "vmfixmod", &module));
	REQUIRE_OK(kallsyms_symbols(kallsyms, "btrfs", &missing));
	CHECK_UINT(symbols_count(kernel), 5);
	CHECK_TEXT(name_at(kernel, 0xffffffffb7c00001), "startup_64");
	CHECK_TEXT(name_at(kernel, 0xffffffffb7c00041), "helper");
	CHECK_TEXT(name_at(kernel, 0xffffffffb7c001ff), "weak_one");
	CHECK_TEXT(name_at(kernel, 0xffffffffb7c00200), NULL);
	CHECK_TEXT(name_at(kernel, 0xffffffffc0728000), NULL);
	CHECK_TEXT(name_at(module, 0xffffffffc07283ff), "m1_sort");
	CHECK_TEXT(name_at(module, 0xffffffffc0728fff), "m1_hash");
	CHECK_TEXT(name_at(module, 0xffffffffc0729000), NULL);
	CHECK_UINT(symbols_count(missing), 0);
	uint64_t address = 0;
	CHECK(kallsyms_address(kallsyms, "_text", &address));
	CHECK_UINT(address, 0xffffffffb7c00000);
	CHECK(!kallsyms_address(kallsyms, "m1_sort", &address));
}

TEST(the_last_symbol_ends_with_its_page)
{
	_cleanup_kallsyms_ struct kallsyms *kallsyms = parse("ffffffff81000010 t only\n");
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE_OK(kallsyms_symbols(kallsyms, NULL, &symbols));
	CHECK_TEXT(name_at(symbols, 0xffffffff81000fff), "only");
	CHECK_TEXT(name_at(symbols, 0xffffffff81001000), NULL);
}

TEST(hidden_addresses_name_nothing)
{
	_cleanup_kallsyms_ struct kallsyms *kallsyms =
		parse("0000000000000000 T _text\n0000000000000000 T schedule\n");
	CHECK(kallsyms_is_hidden(kallsyms));
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE_OK(kallsyms_symbols(kallsyms, NULL, &symbols));
	CHECK_UINT(symbols_count(symbols), 0);
}

TEST(nothing_and_nonsense_are_read_as_no_symbols)
{
	static const char *const texts[] = {
		"", "\n\n", "zz t a\n", "1 t\n", "1 t \n", "1\tt a\n"
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		_cleanup_kallsyms_ struct kallsyms *kallsyms = parse(texts[i]);
		CHECK(kallsyms && kallsyms_is_hidden(kallsyms));
	}
}

TEST(reads_a_compressed_copy_of_a_real_kernel)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/recordings/vm-6.1-kernel/state/kallsyms.xz", shared) < 0)
		abort();
	_cleanup_kallsyms_ struct kallsyms *kallsyms = NULL;
	REQUIRE_OK(kallsyms_open(path, &kallsyms));
	_cleanup_symbols_ struct symbols *kernel = NULL;
	_cleanup_symbols_ struct symbols *btrfs = NULL;
	REQUIRE_OK(kallsyms_symbols(kallsyms, NULL, &kernel));
	REQUIRE_OK(kallsyms_symbols(kallsyms, "btrfs", &btrfs));
	CHECK(symbols_count(kernel) > 30000);
	CHECK_UINT(symbols_count(btrfs), 2680);
}
