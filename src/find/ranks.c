// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// How much a file tells of names, and the words of steps.
#include "find/finder.h"

static const char *const rank_names[] = {
	[RANK_NOTHING] = "no symbols",
	[RANK_DYNSYM] = ".dynsym",
	[RANK_DEBUGDATA] = ".gnu_debugdata",
	[RANK_SYMTAB] = ".symtab",
	[RANK_DWARF] = "DWARF",
};

static const char *const outcome_names[FIND_OUTCOMES] = {
	[FIND_ABSENT] = "absent",	    [FIND_MATCH] = "match",
	[FIND_OTHER_BUILD] = "other-build", [FIND_NO_ID] = "no-id",
	[FIND_UNREADABLE] = "unreadable",   [FIND_SKIPPED] = "skipped",
};

const char *find_rank_name(enum find_rank rank)
{
	return rank_names[rank];
}

const char *find_outcome_name(enum find_outcome outcome)
{
	return outcome_names[outcome];
}

enum find_rank find_rank_of(const struct elf_image *image)
{
	if (elf_image_has_dwarf(image))
		return RANK_DWARF;
	if (elf_image_has_symtab(image))
		return RANK_SYMTAB;
	if (elf_image_has_debugdata(image))
		return RANK_DEBUGDATA;
	return elf_image_has_dynsym(image) ? RANK_DYNSYM : RANK_NOTHING;
}
