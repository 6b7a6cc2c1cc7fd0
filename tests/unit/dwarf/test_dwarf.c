// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// This program's own DWARF, in which the lines below are known.
#include "dwarf/dwarf.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

// The address after the call, which lies in whatever the caller was inlined into.
__attribute__((noinline)) static uintptr_t return_address(void)
{
	__asm__ volatile("");
	return (uintptr_t)__builtin_return_address(0);
}

static uint32_t inner_line, middle_line, outer_line;

__attribute__((always_inline)) static inline uintptr_t inner(void)
{
	inner_line = __LINE__ + 1;
	uintptr_t address = return_address();
	__asm__ volatile("" : "+r"(address));
	return address;
}

__attribute__((always_inline)) static inline uintptr_t middle(void)
{
	middle_line = __LINE__ + 1;
	return inner() + 0;
}

__attribute__((noinline)) static uintptr_t outer(void)
{
	outer_line = __LINE__ + 1;
	return middle() + 0;
}

static int take_bias(struct dl_phdr_info *object, size_t size, void *bias)
{
	(void)size;
	*(uintptr_t *)bias = object->dlpi_addr;
	// The first is the program.
	return 1;
}

static uint64_t elf_address(uintptr_t address)
{
	uintptr_t bias = 0;
	dl_iterate_phdr(take_bias, &bias);
	return address - bias;
}

// NULL (and the test skipped) when this program was built without DWARF.
static struct dwarf *open_self(struct elf_image **image)
{
	struct debug_sections sections;
	struct dwarf *dwarf = NULL;
	if (!tap_check_ok(__FILE__, __LINE__, "open", elf_image_open("/proc/self/exe", image)))
		return NULL;
	if (!elf_image_has_dwarf(*image)) {
		tap_skip("built without -g");
		return NULL;
	}
	CHECK_OK(debug_sections_open(*image, &sections));
	CHECK_OK(dwarf_new(&sections, NULL, 0, UINT64_MAX, &dwarf));
	return dwarf;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = text ? strlen(text) : 0;
	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

TEST(tells_the_inlined_calls_and_where_each_stands)
{
	struct elf_image *image = NULL;
	struct dwarf *dwarf = open_self(&image);
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
	uint32_t count = 0;
	if (dwarf) {
		uint64_t call = elf_address(outer()) - 1;
		CHECK_OK(dwarf_find(dwarf, elf_addr_of(call), frames, &count));
		CHECK_UINT(count, 3);
	}
	if (count == 3) {
		CHECK_TEXT(frames[0].name, "inner");
		CHECK_TEXT(frames[1].name, "middle");
		CHECK_TEXT(frames[2].name, "outer");
		CHECK_UINT(frames[0].line, inner_line);
		CHECK_UINT(frames[1].line, middle_line);
		CHECK_UINT(frames[2].line, outer_line);
		CHECK(frames[0].is_inlined && frames[1].is_inlined && !frames[2].is_inlined);
		CHECK(ends_with(frames[0].file, "tests/unit/dwarf/test_dwarf.c"));
		CHECK(frames[0].file == frames[2].file);
	}
	dwarf_free(dwarf);
	elf_image_free(image);
}

TEST(knows_nothing_of_addresses_outside_all_units)
{
	struct elf_image *image = NULL;
	struct dwarf *dwarf = open_self(&image);
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
	static const uint64_t outside[] = { 0, 1, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX };
	for (size_t i = 0; dwarf && i < sizeof outside / sizeof *outside; i++) {
		uint32_t count = 99;
		CHECK_OK(dwarf_find(dwarf, elf_addr_of(outside[i]), frames, &count));
		CHECK_UINT(count, 0);
	}
	dwarf_free(dwarf);
	elf_image_free(image);
}

static bool same_frames(const struct dwarf_frame *a, const struct dwarf_frame *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].line != b[i].line || a[i].column != b[i].column ||
		    strcmp(a[i].name ? a[i].name : "", b[i].name ? b[i].name : "") != 0)
			return false;
	return true;
}

TEST(many_threads_prepare_what_one_finds)
{
	struct elf_image *images[2] = { 0 };
	struct dwarf *one = open_self(&images[0]);
	struct dwarf *many = one ? open_self(&images[1]) : NULL;
	enum { addresses_count = 4000 };
	elf_addr *addresses = calloc(addresses_count, sizeof *addresses);
	uint64_t start = elf_address((uintptr_t)outer) - addresses_count * 8;
	for (uint64_t i = 0; many && i < addresses_count; i++)
		addresses[i] = elf_addr_of(start + 16 * i);
	if (many)
		CHECK_OK(dwarf_prepare(many, addresses, addresses_count, 4));
	uint32_t found = 0;
	for (size_t i = 0; many && i < addresses_count; i++) {
		struct dwarf_frame a[DWARF_MOST_FRAMES], b[DWARF_MOST_FRAMES];
		uint32_t a_count, b_count;
		CHECK_OK(dwarf_find(one, addresses[i], a, &a_count));
		CHECK_OK(dwarf_find(many, addresses[i], b, &b_count));
		CHECK(a_count == b_count && same_frames(a, b, a_count));
		found += a_count > 0;
	}
	CHECK(!many || found > 100);
	free(addresses);
	dwarf_free(one);
	dwarf_free(many);
	elf_image_free(images[0]);
	elf_image_free(images[1]);
}
