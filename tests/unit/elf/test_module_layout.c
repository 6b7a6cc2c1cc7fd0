// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/module_layout.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/symbols.h"
#include "harness/tap.h"

TEST(executable_sections_follow_each_other_aligned_and_initialisation_lies_apart)
{
	const uint64_t text = SHF_ALLOC | SHF_EXECINSTR;
	struct elf_section sections[] = {
		{ .name = "" },
		{ .name = ".data", .flags = SHF_ALLOC | SHF_WRITE, .size = 0x100 },
		{ .name = ".text", .flags = text, .size = 0xe5681, .alignment = 16 },
		{ .name = ".static_call.text", .flags = text, .size = 0x310, .alignment = 4 },
		{ .name = ".init.text", .flags = text, .size = 0x6c3, .alignment = 1 },
		{ .name = ".text.unlikely", .flags = text, .size = 0x112f6, .alignment = 1 },
		{ .name = ".debug_info", .size = 0x1000, .alignment = 1 },
	};
	module_layout(sections, sizeof sections / sizeof *sections);
	CHECK_UINT(sections[2].address, 0);
	CHECK_UINT(sections[3].address, 0xe5684);
	CHECK_UINT(sections[5].address, 0xe5994);
	CHECK_UINT(sections[1].address, UINT64_C(1) << 32);
	CHECK_UINT(sections[4].address, (UINT64_C(1) << 32) + 0x100);
	CHECK_UINT(sections[6].address, 0);
}

static FILE *open_kallsyms(const char *shared)
{
	_cleanup_free_ char *command = NULL;
	if (asprintf(&command, "xz -dc %s/recordings/vm-6.1-kernel/state/kallsyms.xz", shared) < 0)
		abort();
	return popen(command, "r");
}

TEST(the_functions_of_a_module_lie_where_the_kernel_that_loaded_it_says)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	const uint64_t base = 0xffffffffc032f000;
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/recordings/kernel-6.1.0-57-cloud/ko/btrfs.ko.xz", shared) < 0)
		abort();
	_cleanup_elf_image_ struct elf_image *image = NULL;
	_cleanup_symbols_ struct symbols *symbols = NULL;
	REQUIRE_OK(elf_image_open(path, &image));
	REQUIRE_OK(symbols_new(image, NULL, &symbols));
	FILE *kallsyms = open_kallsyms(shared);
	REQUIRE(kallsyms);
	char *line = NULL;
	size_t room = 0;
	unsigned found = 0;
	while (getline(&line, &room, kallsyms) > 0) {
		unsigned long long address;
		char type, name[512], module[64];
		if (sscanf(line, "%llx %c %511s %63s", &address, &type, name, module) != 4 ||
		    strcmp(module, "[btrfs]") != 0 || !strchr("tT", type))
			continue;
		size_t first;
		size_t count = symbols_aliases(symbols, elf_addr_of(address - base), &first);
		bool is_there = false;
		for (size_t i = 0; i < count; i++)
			is_there |= !strcmp(symbols_item(symbols, first + i).name, name);
		CHECK(is_there);
		found += is_there;
	}
	free(line);
	pclose(kallsyms);
	CHECK(found > 2500);
}
