// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The bytes of processes and files as sources for model/elf_face.h, and the vdso.
#ifndef LIVE_MEMORY_H
#define LIVE_MEMORY_H

#include "live/proc.h"
#include "model/elf_face.h"

// An image in the file FD (lent), which begins at OFFSET.
struct fd_bytes {
	int fd;
	uint64_t offset;
};

// For struct byte_source: ARG is a struct fd_bytes.
size_t fd_bytes_read(void *arg, uint64_t offset, void *bytes, size_t size);

// The face of the image in FD.
void fd_face_read(int fd, struct elf_face *ret);
struct build_id fd_face_id(int fd);

// Opens the memory of process PID; -1 and *outcome when we may not. Read it with pread(2) or as
// struct fd_bytes with an offset of the image's address.
int process_memory_open(const struct proc *proc, uint32_t pid, enum proc_outcome *outcome);

// Appends the bytes of the image that is the vdso of process PID to RET: from START to END, as its
// maps say. Nothing is appended when they cannot be read.
struct imp_error *process_vdso_read(const struct proc *proc, uint32_t pid, uint64_t start,
				    uint64_t end, struct buffer *ret) MUST_CHECK;

#endif
