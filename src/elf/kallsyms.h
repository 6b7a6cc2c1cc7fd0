// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The symbols that a running kernel tells of itself and its modules: /proc/kallsyms, or a copy.
#ifndef ELF_KALLSYMS_H
#define ELF_KALLSYMS_H

#include "base/buffer.h"
#include "elf/symbols.h"

struct kallsyms;

// Reads the file at PATH, which may be compressed as unpack.h knows.
struct imp_error *kallsyms_open(const char *path, struct kallsyms **ret) MUST_CHECK;

// The same from TEXT, whose bytes are taken (also on failure). Lines that are none are skipped.
struct imp_error *kallsyms_parse(struct buffer *text, struct kallsyms **ret) MUST_CHECK;

void kallsyms_free(struct kallsyms *kallsyms);

// Every address is 0: the reader was not allowed to see them (kptr_restrict), so it tells nothing.
bool kallsyms_is_hidden(const struct kallsyms *kallsyms);

// The address of symbol NAME of the kernel itself; the first when there are several.
bool kallsyms_address(const struct kallsyms *kallsyms, const char *name, uint64_t *ret);

// The functions of MODULE ("snd_pcm"), or of the kernel itself when it is NULL, at the addresses
// where they ran. KALLSYMS is lent until symbols_free(). A module that is not there gives an empty
// table.
struct imp_error *kallsyms_symbols(const struct kallsyms *kallsyms, const char *module,
				   struct symbols **ret) MUST_CHECK;

DEFINE_CLEANUP(struct kallsyms *, kallsyms, kallsyms_free)
#define _cleanup_kallsyms_ __attribute__((cleanup(cleanup_kallsyms)))

#endif
