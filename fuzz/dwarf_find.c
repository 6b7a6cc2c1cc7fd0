// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lines and inlined calls of ELF files with DWARF.
#include "dwarf/dwarf.h"
#include "fuzz.h"

// Where the seeds have code: at 0 in object files, at 0x1000 in libraries.
enum { STEP = 4, LENGTH = 0x200, LIBRARY_CODE = 0x1000, WHOLE_UNITS = 1 << 16 };

static void ask(struct dwarf *dwarf, uint64_t start)
{
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
	for (uint64_t at = start; at < start + LENGTH; at += STEP) {
		uint32_t count = 0;
		struct imp_error *err = dwarf_find(dwarf, elf_addr_of(at), frames, &count);
		FUZZ_CHECK(count <= DWARF_MOST_FRAMES);
		// The outermost is a function of its own.
		FUZZ_CHECK(err || !count || !frames[count - 1].is_inlined);
		imp_error_free(err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_image *image = NULL;
	struct debug_sections sections;
	struct dwarf *dwarf = NULL;
	if (size > WHOLE_UNITS)
		return 0;
	struct imp_error *err = elf_image_open_memory(bytes, size, "fuzz", &image);
	if (!err)
		err = debug_sections_open(image, &sections);
	if (!err)
		err = dwarf_new(&sections, NULL, 0, UINT64_MAX, &dwarf);
	if (!err) {
		ask(dwarf, 0);
		ask(dwarf, LIBRARY_CODE);
	}
	dwarf_free(dwarf);
	elf_image_free(image);
	imp_error_free(err);
	return 0;
}
