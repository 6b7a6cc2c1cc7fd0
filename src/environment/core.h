// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A snapshot of the process that a core file was written of.
//
// Identities come from the ELF headers that the kernel puts into the core (core(5),
// coredump_filter bit 4), never from the files of today: without them an image has its path only.
#ifndef ENVIRONMENT_CORE_H
#define ENVIRONMENT_CORE_H

#include "environment/snapshot.h"

// Reads the ELF core file at PATH.
struct imp_error *core_snapshot(const char *path, struct snapshot **ret) MUST_CHECK;

// Whether the file at PATH is an ELF core file.
bool core_is_file(const char *path);

// Appends the bytes of the mapping at START of the core at PATH to RET: those of the vdso, say.
// What was not dumped is missing.
struct imp_error *core_read_memory(const char *path, uint64_t start, uint64_t size,
				   struct buffer *ret) MUST_CHECK;

#endif
