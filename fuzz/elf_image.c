// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// ELF files: headers, notes, segments, sections, every symbol table, linkage tables.
#include "elf/symbols.h"
#include "elf/unpack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_image *image = NULL;
	// What is packed is another target's.
	if (unpack_knows(bytes, size))
		return 0;
	struct imp_error *err = elf_image_open_memory(bytes, size, "fuzzed", &image);
	struct symbols *symbols = NULL;
	if (!err)
		err = symbols_new(image, NULL, &symbols);
	for (size_t i = 0; !err && i < symbols_count(symbols); i++) {
		struct symbol symbol = symbols_item(symbols, i), found;
		FUZZ_CHECK(symbol.name && *symbol.name);
		if (symbol.size && symbol.address.value + symbol.size > symbol.address.value)
			FUZZ_CHECK(symbols_at(symbols, symbol.address, &found));
	}
	elf_addr address;
	if (image)
		for (size_t i = 0; i < elf_image_segment_count(image); i++)
			(void)elf_image_address(
				image, file_off_of(elf_image_segment(image, i)->offset), &address);
	symbols_free(symbols);
	elf_image_free(image);
	imp_error_free(err);
	return 0;
}
