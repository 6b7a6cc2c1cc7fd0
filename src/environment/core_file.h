// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An ELF core file: its segments, its notes, and the memory that was dumped.
#ifndef ENVIRONMENT_CORE_FILE_H
#define ENVIRONMENT_CORE_FILE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/strings.h"

struct core_segment {
	uint64_t start, memory_size;
	uint64_t offset, file_size;
	bool is_executable;
};

// A mapped file, of NT_FILE.
struct core_mapped_file {
	uint64_t start, end, offset;
	// Lent by the core.
	const char *path;
};

struct core_file {
	int fd;
	const char *path;
	bool is_64bit, swap;
	uint16_t machine;
	// In the order of addresses.
	ARRAY_OF(struct core_segment) segments;
	ARRAY_OF(struct core_mapped_file) files;
	struct strings strings;
	uint32_t pid, parent, uid;
	char comm[17];
	char command[81];
	uint64_t vdso_address;
};

// Opens the core file at PATH (lent). Call core_file_close() also on failure.
struct imp_error *core_file_open(const char *path, struct core_file *ret) MUST_CHECK;
void core_file_close(struct core_file *core);
#define _cleanup_core_file_ __attribute__((cleanup(core_file_close)))

// Reads up to SIZE bytes of memory at ADDRESS; less where it was not dumped.
size_t core_file_read(const struct core_file *core, uint64_t address, void *bytes, size_t size);

// The segment that covers ADDRESS, or NULL.
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);

// The file mapped at ADDRESS, or NULL.
const struct core_mapped_file *core_file_mapped(const struct core_file *core, uint64_t address);

#endif
