// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The loader's layout, simulated.
#include "elf/module_layout.h"

#include <elf.h>
#include <string.h>

static bool is_init(const struct elf_section *section)
{
	return !strncmp(section->name, ".init", 5);
}

static bool is_in_text_region(const struct elf_section *section)
{
	const uint64_t needed = SHF_ALLOC | SHF_EXECINSTR;
	return (section->flags & needed) == needed && !is_init(section);
}

// The end of SECTION when it is put at the first place from AT on that suits it.
static uint64_t place(struct elf_section *section, uint64_t at)
{
	uint64_t alignment = section->alignment ? section->alignment : 1;
	uint64_t rest = at % alignment;
	section->address = rest ? at + (alignment - rest) : at;
	return section->address + section->size;
}

void module_layout(struct elf_section *sections, size_t count)
{
	const uint64_t region = UINT64_C(1) << 32;
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++)
		if (is_in_text_region(&sections[i]))
			at = place(&sections[i], at);
	at = (at / region + 1) * region;
	for (size_t i = 0; i < count; i++)
		if (sections[i].flags & SHF_ALLOC && !is_in_text_region(&sections[i]))
			at = place(&sections[i], at);
}
