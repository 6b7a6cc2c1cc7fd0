// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What kind of ELF file it is, from its section headers alone: a few small reads, nothing mapped.
#ifndef ELF_ELF_BRIEF_H
#define ELF_ELF_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct elf_brief {
	// e_type; 0 (ET_NONE) when it is no ELF file.
	uint16_t type;
	bool has_symtab;
	bool has_dwarf;
	// .gnu_debugdata.
	bool has_debugdata;
	// A kernel module.
	bool is_module;
	// Its code is elsewhere: sections of code that have no bytes here, and none that has; or
	// DWARF and no code at all.
	bool is_debug_file;
};

// Reads FD (PATH is for messages). What cannot be made out is left false; errors are for what
// cannot be read.
struct imp_error *elf_brief_read_fd(int fd, const char *path, struct elf_brief *ret) MUST_CHECK;
// The same for SIZE bytes of BYTES.
void elf_brief_read_memory(const void *bytes, size_t size, struct elf_brief *ret);

#endif
