// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The call frame information of an image: which frame description covers an address, and what its
// common information says. DWARF 5, section 6.4, and the Linux Standard Base's .eh_frame.
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "elf/elf_image.h"

struct cfi;

// Reads the descriptions of IMAGE's .eh_frame, and of .debug_frame where IMAGE or DEBUG (or NULL)
// has one. Both are lent until cfi_free(). Damage ends a section; what came before it is kept.
struct imp_error *cfi_new(const struct elf_image *image, const struct elf_image *debug,
			  struct cfi **ret) MUST_CHECK;
void cfi_free(struct cfi *cfi);

// One frame description, with the bytes its instructions lie in; lent by the image.
struct frame_description {
	uint64_t start, end;
	// The section, for expressions, which are known by their offset in it.
	struct cursor section;
	uint64_t section_address;
	// Offsets in the section.
	size_t common_start, common_end, own_start, own_end;
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_column;
	uint8_t address_size, pointer_encoding;
	// A frame that the kernel made to call a signal handler: the address above it is no return
	// address.
	bool is_signal;
	// The common information begins with 'z': descriptions have augmentation data.
	bool has_augmentation_data;
};

// The description that covers ADDRESS. False when none does, or it is damaged.
bool cfi_at(const struct cfi *cfi, uint64_t address, struct frame_description *ret);

// A pointer of ENCODING (DW_EH_PE_…) at CURSOR, whose section lies at SECTION_ADDRESS. An encoding
// that needs what is not known here fails the cursor.
uint64_t cfi_pointer(struct cursor *cursor, uint64_t section_address, uint8_t encoding,
		     uint8_t address_size);

#endif
