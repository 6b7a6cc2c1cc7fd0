// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking ELF notes: name and descriptor are padded to 4 bytes, in a segment aligned to 8 to 8.
#include "model/elf_note.h"

// Skips from AT, counted from the note's first byte, to the next multiple of ALIGN. The padding of
// the last note may be missing.
static void skip_padding(struct cursor *notes, size_t at, size_t align)
{
	size_t padding = (align - at % align) % align;
	size_t left = cursor_left(notes);
	cursor_skip(notes, padding < left ? padding : left);
}

bool elf_note_next(struct cursor *notes, uint64_t align, struct elf_note *ret)
{
	size_t padded_to = align == 8 ? 8 : 4;
	size_t start = notes->at;
	size_t owner_size = cursor_u32(notes);
	size_t size = cursor_u32(notes);
	uint32_t type = cursor_u32(notes);
	struct cursor owner = cursor_part(notes, owner_size);
	if (notes->failed)
		return false;
	skip_padding(notes, notes->at - start, padded_to);
	struct cursor bytes = cursor_part(notes, size);
	if (notes->failed)
		return false;
	skip_padding(notes, notes->at - start, padded_to);
	*ret = (struct elf_note){
		.type = type,
		.owner = owner_size ? (const char *)owner.start : "",
		.owner_length = owner_size ? strnlen((const char *)owner.start, owner_size) : 0,
		.bytes = bytes.start,
		.size = size,
	};
	return true;
}

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
	return note->type == type && note->owner_length == strlen(owner) &&
	       !memcmp(note->owner, owner, note->owner_length);
}

struct build_id build_id_in_notes(const void *bytes, size_t size, uint64_t align, bool swap)
{
	struct cursor notes = cursor_over(bytes, size);
	notes.swap = swap;
	struct elf_note note;
	while (elf_note_next(&notes, align, &note))
		if (elf_note_is(&note, "GNU", NOTE_GNU_BUILD_ID))
			return build_id_of(note.bytes, (uint32_t)note.size);
	return (struct build_id){ 0 };
}
