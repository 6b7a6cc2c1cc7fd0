// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/symbols.h"

#include <string.h>

#include "harness/tap.h"
#include "make/elf.h"

enum { TEXT = 1, DATA = 2, TEXT_AT = 0x1000 };

// An image of the symbols given, in a .text of 0x1000 bytes at 0x1000 and a .data behind it.
static struct elf_image *make_image(uint16_t machine, const struct make_symbol *symbols,
				    size_t count)
{
	struct make_elf elf = {
		.type = ET_DYN,
		.machine = machine,
		.is_big_endian = machine == EM_PPC64,
		.section_count = 2,
		.sections = { { .name = ".text",
				.type = SHT_NOBITS,
				.address = TEXT_AT,
				.size = 0x1000,
				.flags = SHF_ALLOC | SHF_EXECINSTR },
			      { .name = ".data",
				.type = SHT_NOBITS,
				.address = 0x3000,
				.size = 0x1000,
				.flags = SHF_ALLOC | SHF_WRITE } },
		.symbol_count = count,
	};
	memcpy(elf.symbols, symbols, count * sizeof *symbols);
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	struct elf_image *image = NULL;
	CHECK_OK(elf_image_open_memory(file.bytes, file.size, "made", &image));
	return image;
}

static const char *name_at(const struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;
	return symbols_at(symbols, elf_addr_of(address), &symbol) ? symbol.name : NULL;
}

#define SYMBOLS_OF(machine, ...)                                         \
	const struct make_symbol made[] = { __VA_ARGS__ };               \
	_cleanup_elf_image_ struct elf_image *image =                    \
		make_image((machine), made, sizeof made / sizeof *made); \
	_cleanup_symbols_ struct symbols *symbols = NULL;                \
	REQUIRE_OK(symbols_new(image, NULL, &symbols))

TEST(an_address_has_the_name_of_the_symbol_that_covers_it)
{
	SYMBOLS_OF(EM_X86_64, { "one", 0x1010, 0x10, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "two", 0x1030, 0x10, TEXT, STT_FUNC, STB_LOCAL, false });
	CHECK_TEXT(name_at(symbols, 0x100f), NULL);
	CHECK_TEXT(name_at(symbols, 0x1010), "one");
	CHECK_TEXT(name_at(symbols, 0x101f), "one");
	CHECK_TEXT(name_at(symbols, 0x1020), NULL);
	CHECK_TEXT(name_at(symbols, 0x103f), "two");
	CHECK_TEXT(name_at(symbols, 0x1040), NULL);
	CHECK_TEXT(name_at(symbols, UINT64_MAX), NULL);
}

TEST(of_nested_symbols_the_inner_one_counts_and_the_outer_one_goes_on_behind_it)
{
	SYMBOLS_OF(EM_X86_64, { "outer", 0x1000, 0x100, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "inner", 0x1040, 0x10, TEXT, STT_FUNC, STB_LOCAL, false },
		   { "across", 0x10f0, 0x20, TEXT, STT_FUNC, STB_LOCAL, false });
	CHECK_TEXT(name_at(symbols, 0x103f), "outer");
	CHECK_TEXT(name_at(symbols, 0x1040), "inner");
	CHECK_TEXT(name_at(symbols, 0x1050), "outer");
	CHECK_TEXT(name_at(symbols, 0x10ff), "across");
	CHECK_TEXT(name_at(symbols, 0x110f), "across");
	CHECK_TEXT(name_at(symbols, 0x1110), NULL);
}

TEST(a_symbol_without_size_lasts_until_the_next_one_or_the_end_of_its_section)
{
	SYMBOLS_OF(EM_X86_64, { "label", 0x1000, 0, TEXT, STT_NOTYPE, STB_GLOBAL, false },
		   { "sized", 0x1100, 0x20, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "inside", 0x1110, 0, TEXT, STT_NOTYPE, STB_LOCAL, false },
		   { "last", 0x1200, 0, TEXT, STT_FUNC, STB_GLOBAL, false });
	CHECK_TEXT(name_at(symbols, 0x10ff), "label");
	CHECK_TEXT(name_at(symbols, 0x1111), "sized");
	CHECK_TEXT(name_at(symbols, 0x1120), NULL);
	CHECK_TEXT(name_at(symbols, 0x1fff), "last");
	CHECK_TEXT(name_at(symbols, 0x2000), NULL);
}

TEST(among_aliases_the_choice_is_documented_and_all_stay_available)
{
	SYMBOLS_OF(EM_X86_64, { "weak_name", 0x1000, 16, TEXT, STT_FUNC, STB_WEAK, false },
		   { "local_nm", 0x1000, 16, TEXT, STT_FUNC, STB_LOCAL, false },
		   { "__under", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "longer_name", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "name_b", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "name_a", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "name_a", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, true },
		   { "label", 0x1000, 0, TEXT, STT_NOTYPE, STB_GLOBAL, false },
		   { "chooser", 0x1000, 16, TEXT, STT_GNU_IFUNC, STB_GLOBAL, false });
	static const char *const expected[] = { "name_a",    "name_b",	 "longer_name", "__under",
						"weak_name", "local_nm", "chooser",	"label" };
	size_t first;
	REQUIRE(symbols_aliases(symbols, elf_addr_of(0x1000), &first) == 8);
	for (size_t i = 0; i < 8; i++)
		CHECK_TEXT(symbols_item(symbols, first + i).name, expected[i]);
	CHECK_TEXT(name_at(symbols, 0x100f), "name_a");
	CHECK_UINT(symbols_aliases(symbols, elf_addr_of(0x1001), &first), 0);
}

TEST(a_shorter_alias_gives_way_behind_its_end)
{
	SYMBOLS_OF(EM_X86_64, { "a", 0x1000, 8, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "long", 0x1000, 16, TEXT, STT_FUNC, STB_LOCAL, false });
	CHECK_TEXT(name_at(symbols, 0x1007), "a");
	CHECK_TEXT(name_at(symbols, 0x1008), "long");
}

TEST(what_is_no_function_names_nothing)
{
	SYMBOLS_OF(EM_X86_64, { "object", 0x1000, 16, TEXT, STT_OBJECT, STB_GLOBAL, false },
		   { "undefined", 0x1010, 16, SHN_UNDEF, STT_FUNC, STB_GLOBAL, false },
		   { "absolute", 0x1020, 16, SHN_ABS, STT_FUNC, STB_GLOBAL, false },
		   { "file.c", 0x1030, 0, TEXT, STT_FILE, STB_LOCAL, false },
		   { "data_label", 0x3000, 0, DATA, STT_NOTYPE, STB_GLOBAL, false },
		   { "", 0x1040, 16, TEXT, STT_FUNC, STB_GLOBAL, false });
	CHECK_UINT(symbols_count(symbols), 0);
}

TEST(mapping_symbols_are_no_names_and_bit_0_of_thumb_code_is_no_address)
{
	SYMBOLS_OF(EM_ARM, { "$t", 0x1000, 0, TEXT, STT_NOTYPE, STB_LOCAL, false },
		   { "$a.1", 0x1000, 0, TEXT, STT_NOTYPE, STB_LOCAL, false },
		   { "thumb", 0x1001, 0x10, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "$dollar", 0x1020, 0x10, TEXT, STT_FUNC, STB_GLOBAL, false });
	CHECK_UINT(symbols_count(symbols), 2);
	CHECK_TEXT(name_at(symbols, 0x1000), "thumb");
	CHECK_TEXT(name_at(symbols, 0x1010), NULL);
	CHECK_TEXT(name_at(symbols, 0x1020), "$dollar");
}

TEST(default_versions_are_left_out_and_others_kept)
{
	SYMBOLS_OF(EM_X86_64,
		   { "memcpy@@GLIBC_2.14", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		   { "memcpy", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, true },
		   { "memcpy@GLIBC_2.2.5", 0x1010, 16, TEXT, STT_FUNC, STB_GLOBAL, false });
	CHECK_UINT(symbols_count(symbols), 2);
	CHECK_TEXT(name_at(symbols, 0x1000), "memcpy");
	CHECK_TEXT(name_at(symbols, 0x1010), "memcpy@GLIBC_2.2.5");
}

TEST(sizes_that_overflow_end_with_the_address_space)
{
	SYMBOLS_OF(EM_X86_64, { "huge", 0x1000, UINT64_MAX, TEXT, STT_FUNC, STB_GLOBAL, false });
	CHECK_TEXT(name_at(symbols, 0x1000), "huge");
	CHECK_TEXT(name_at(symbols, UINT64_MAX - 1), "huge");
}

TEST(a_descriptor_of_ppc64_stands_for_its_code)
{
	static const uint8_t opd[] = { 0, 0, 0, 0, 0, 0, 0x10, 0x40, [8 ... 23] = 0 };
	struct make_elf elf = {
		.type = ET_EXEC,
		.machine = EM_PPC64,
		.is_big_endian = true,
		.section_count = 2,
		.sections = { { .name = ".opd",
				.type = SHT_PROGBITS,
				.address = 0x5000,
				.bytes = opd,
				.size = sizeof opd,
				.flags = SHF_ALLOC | SHF_WRITE },
			      { .name = ".text",
				.type = SHT_NOBITS,
				.address = 0x1000,
				.size = 0x1000,
				.flags = SHF_ALLOC | SHF_EXECINSTR } },
		.symbol_count = 1,
		.symbols = { { "function", 0x5000, 0x20, 1, STT_FUNC, STB_GLOBAL, false } },
	};
	_cleanup_buffer_ struct buffer file = { 0 };
	make_elf(&elf, &file);
	_cleanup_elf_image_ struct elf_image *image = NULL;
	REQUIRE_OK(elf_image_open_memory(file.bytes, file.size, "ppc64", &image));
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE_OK(symbols_new(NULL, image, &symbols));
	CHECK_TEXT(name_at(symbols, 0x1040), "function");
	CHECK_TEXT(name_at(symbols, 0x105f), "function");
	CHECK_TEXT(name_at(symbols, 0x5000), NULL);
}

TEST(a_debug_file_adds_what_was_stripped)
{
	const struct make_symbol exported = { "exported", 0x1000,     16,  TEXT,
					      STT_FUNC,	  STB_GLOBAL, true };
	const struct make_symbol both[] = {
		{ "exported", 0x1000, 16, TEXT, STT_FUNC, STB_GLOBAL, false },
		{ "hidden", 0x1010, 16, TEXT, STT_FUNC, STB_LOCAL, false },
	};
	_cleanup_elf_image_ struct elf_image *stripped = make_image(EM_X86_64, &exported, 1);
	_cleanup_elf_image_ struct elf_image *debug = make_image(EM_X86_64, both, 2);
	_cleanup_symbols_ struct symbols *alone = NULL;
	_cleanup_symbols_ struct symbols *together = NULL;
	REQUIRE_OK(symbols_new(stripped, NULL, &alone));
	REQUIRE_OK(symbols_new(stripped, debug, &together));
	CHECK_TEXT(name_at(alone, 0x1018), NULL);
	CHECK_TEXT(name_at(together, 0x1018), "hidden");
	struct symbol symbol;
	CHECK(symbols_named(together, "exported", &symbol));
	CHECK_UINT(symbol.source, SYMBOL_SYMTAB);
	CHECK(symbols_named(alone, "exported", &symbol));
	CHECK_UINT(symbol.source, SYMBOL_DYNSYM);
}

TEST(no_image_has_no_symbols)
{
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE_OK(symbols_new(NULL, NULL, &symbols));
	CHECK_UINT(symbols_count(symbols), 0);
	CHECK_TEXT(name_at(symbols, 0), NULL);
}

// Runs objdump by COMMAND; each line "ADDRESS <NAME>:" of its output is compared with SYMBOLS. How
// many entries of procedure linkage tables there were.
static unsigned compare_with(const char *command, const struct symbols *symbols)
{
	FILE *pipe = popen(command, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned entries = 0;
	while (pipe && getline(&line, &room, pipe) > 0) {
		unsigned long long address;
		char name[512];
		// A table's head is named after its first entry: "puts@plt-0x10".
		if (sscanf(line, "%llx <%511[^>]>:", &address, name) != 2 || name[0] == '.' ||
		    strstr(name, "@plt-"))
			continue;
		CHECK_TEXT(name_at(symbols, address), name);
		entries += strstr(name, "@plt") != NULL;
	}
	free(line);
	if (pipe)
		pclose(pipe);
	return entries;
}

// Builds a program with COMPILER that calls through its PLT and compares the entries' names with
// those that objdump gives.
static void check_plt(const char *compiler, const char *flags, unsigned least_entries)
{
	char *directory = make_directory();
	_cleanup_free_ char *build = NULL, *dump = NULL, *path = NULL;
	if (asprintf(&build,
		     "cd %s && echo 'int puts(const char *); int getpid(void); void exit(int);"
		     "int abs(int); int (*f)(int) = abs;"
		     "int main(void) { puts(\"\"); exit(abs(getpid()) + f(1)); }' > a.c && "
		     "%s %s -O1 -fno-builtin a.c -o a 2>/dev/null",
		     directory, compiler, flags) < 0 ||
	    asprintf(&dump, "objdump -d %s/a 2>/dev/null", directory) < 0 ||
	    asprintf(&path, "%s/a", directory) < 0)
		abort();
	_cleanup_elf_image_ struct elf_image *image = NULL;
	_cleanup_symbols_ struct symbols *symbols = NULL;
	if (system(build) != 0 || system("objdump --version > /dev/null 2>&1") != 0) {
		tap_skip("cannot build with %s %s", compiler, flags);
	} else {
		CHECK_OK(elf_image_open(path, &image));
		CHECK_OK(symbols_new(image, NULL, &symbols));
		CHECK(symbols && compare_with(dump, symbols) >= least_entries);
	}
	make_directory_free(directory);
}

TEST(names_lazy_plt_entries_as_objdump_does)
{
	check_plt("gcc", "-fcf-protection=none -Wl,-z,lazy", 4);
}

TEST(names_cet_plt_entries_as_objdump_does)
{
	check_plt("gcc", "-fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt", 4);
}

TEST(names_plt_entries_bound_at_once_as_objdump_does)
{
	check_plt("gcc", "-Wl,-z,now -fno-plt", 1);
	check_plt("gcc", "-Wl,-z,now", 4);
}

TEST(names_plt_entries_of_programs_at_fixed_addresses_as_objdump_does)
{
	check_plt("gcc", "-no-pie -fno-pie", 4);
}

TEST(names_plt_entries_of_lld_as_objdump_does)
{
	check_plt("clang", "-fuse-ld=lld", 4);
}

TEST(names_plt_entries_of_gold_as_objdump_does)
{
	check_plt("gcc", "-fuse-ld=gold", 4);
}
