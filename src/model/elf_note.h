// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// ELF notes as bytes, wherever they come from: a file, /sys, the memory of a process, a core file.
#ifndef MODEL_ELF_NOTE_H
#define MODEL_ELF_NOTE_H

#include <stddef.h>

#include "base/cursor.h"
#include "model/build_id.h"

// n_type of owner "GNU".
#define NOTE_GNU_BUILD_ID 3U
// n_type of owner "FDO": package metadata, a JSON object
// (https://systemd.io/ELF_PACKAGE_METADATA).
#define NOTE_FDO_PACKAGE 0xcafe1a7eU

// Lent by the bytes it was read from.
struct elf_note {
	uint32_t type;
	// Without the NUL that ends it; not terminated when there is none.
	const char *owner;
	size_t owner_length;
	const uint8_t *bytes;
	size_t size;
};

// The next note of NOTES, whose swap says the byte order; ALIGN is the segment's or section's (8,
// else 4 is meant). False at the end and at a note that does not fit.
bool elf_note_next(struct cursor *notes, uint64_t align, struct elf_note *ret);

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);

// The first build ID among the notes in SIZE bytes of BYTES; none without one.
struct build_id build_id_in_notes(const void *bytes, size_t size, uint64_t align, bool swap);

#endif
