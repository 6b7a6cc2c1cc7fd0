// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Small pieces of a file with few system calls: the head is read once, a window moves over the
// rest.
#ifndef ELF_ELF_READER_H
#define ELF_ELF_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { ELF_WINDOW_SIZE = 4096 };

// Over a file (fd >= 0) or over bytes in memory (`bytes` set).
struct elf_reader {
	int fd;
	// Where the ELF file begins in FD.
	uint64_t origin;
	const uint8_t *bytes;
	size_t size;
	// The first failure of a read, a positive errno value; the bytes then count as missing.
	int error;
	size_t head_size, window_size;
	uint64_t window_at;
	uint8_t head[ELF_WINDOW_SIZE];
	uint8_t window[ELF_WINDOW_SIZE];
};

void elf_reader_over_fd(struct elf_reader *reader, int fd, uint64_t origin);
void elf_reader_over_memory(struct elf_reader *reader, const void *bytes, size_t size);

// Exactly SIZE bytes at OFFSET, lent until the next call; NULL when there are fewer, or SIZE is
// above ELF_WINDOW_SIZE and the bytes are not in memory.
const uint8_t *elf_reader_span(struct elf_reader *reader, uint64_t offset, size_t size);

// Up to SIZE bytes at OFFSET into ROOM; how many there were.
size_t elf_reader_copy(struct elf_reader *reader, uint64_t offset, uint8_t *room, size_t size);

#endif
