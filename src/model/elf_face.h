// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the program headers of an ELF image tell of it, read through a callback with a few small
// reads: build ID, package, soname.
//
// For images that cannot be opened as a file or need not be: the memory of a process, a core file,
// thousands of mapped files. What needs sections or symbols is elf/'s.
#ifndef MODEL_ELF_FACE_H
#define MODEL_ELF_FACE_H

#include <stddef.h>

#include "model/build_id.h"

// Where the bytes of an image come from.
struct byte_source {
	// Reads up to SIZE bytes at OFFSET from the image's first byte to BYTES; how many, less
	// than SIZE at the end and where bytes are missing.
	size_t (*read)(void *arg, uint64_t offset, void *bytes, size_t size);
	void *arg;
	// The bytes are those of a loaded image: segments stand where their addresses say, not
	// their file offsets.
	bool is_loaded;
	// Where a loaded image's first byte stands, for pointers that its loader made absolute.
	uint64_t base;
};

enum { ELF_PACKAGE_SIZE = 1024, ELF_SONAME_SIZE = 256 };

struct elf_face {
	bool is_elf;
	bool is_64bit;
	// Of the other byte order than this machine.
	bool swap;
	// e_type, e_machine.
	uint16_t type, machine;
	struct build_id id;
	// The JSON of .note.package, "" without one or when it does not fit.
	char package[ELF_PACKAGE_SIZE];
	// DT_SONAME, "" without one or when it does not fit.
	char soname[ELF_SONAME_SIZE];
	// From the image's first byte to the last that a load segment takes, in memory.
	uint64_t memory_size;
};

// Reads SOURCE. What is not ELF, or is cut off, leaves the fields empty: no answer is an answer.
void elf_face_read(const struct byte_source *source, struct elf_face *ret);

// Only the build ID.
struct build_id elf_face_id(const struct byte_source *source);

// The same for an image of SIZE bytes that were copied out of memory, where it was loaded.
struct build_id elf_face_id_of_memory(const void *bytes, size_t size);

#endif
