// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A file that looks like a shared library to whoever reads its headers: one executable load
// segment, a build ID, a soname, a package.
#ifndef MAKE_TINY_LIBRARY_H
#define MAKE_TINY_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

enum { TINY_LIBRARY_SIZE = 8192 };

struct tiny_library {
	// 0 bytes: no build ID. At most 64.
	size_t id_size;
	// Every byte of the ID.
	uint8_t id;
	// At most 63 bytes; NULL for none.
	const char *soname;
	// JSON, at most 255 bytes; NULL for none.
	const char *package;
	// Fills the second page.
	uint8_t code;
};

// Writes TINY_LIBRARY_SIZE bytes to BYTES.
void tiny_library_make(const struct tiny_library *library, uint8_t *bytes);

// The same to a new file at PATH (what is there is unlinked first). Stops the test program when it
// cannot.
void tiny_library_write(const struct tiny_library *library, const char *path);

#endif
