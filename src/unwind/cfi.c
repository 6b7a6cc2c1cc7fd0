// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking .eh_frame and .debug_frame once into a sorted list of descriptions.
#include "unwind/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dwarf/leb.h"

enum { section_count = 3 };

struct cfi_section {
	struct cursor bytes;
	uint64_t address;
	bool is_eh;
};

struct entry {
	uint64_t start, end;
	uint32_t offset;
	uint32_t section;
};

struct cfi {
	uint8_t address_size;
	struct cfi_section sections[section_count];
	ARRAY_OF(struct entry) entries;
};

// The header that common information and descriptions share.
struct entry_header {
	// Offsets in the section.
	size_t id_at, end;
	uint64_t id;
	uint8_t offset_size;
};

uint64_t cfi_pointer(struct cursor *cursor, uint64_t section_address, uint8_t encoding,
		     uint8_t address_size)
{
	uint64_t base = 0, value;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		base = section_address + cursor->at;
	else if ((encoding & 0x70) != DW_EH_PE_absptr)
		cursor->failed = true;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = cursor_sized(cursor, address_size);
		break;
	case DW_EH_PE_uleb128:
		value = cursor_uleb(cursor);
		break;
	case DW_EH_PE_udata2:
		value = cursor_u16(cursor);
		break;
	case DW_EH_PE_udata4:
		value = cursor_u32(cursor);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = cursor_u64(cursor);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cursor_sleb(cursor);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int16_t)cursor_u16(cursor);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int32_t)cursor_u32(cursor);
		break;
	default:
		cursor->failed = true;
		value = 0;
		break;
	}
	value += base;
	return address_size == 4 ? (uint32_t)value : value;
}

static bool read_entry_header(struct cursor *at, struct entry_header *ret)
{
	uint64_t length = cursor_unit_length(at, &ret->offset_size);
	if (at->failed || length == 0 || length > cursor_left(at))
		return false;
	ret->id_at = at->at;
	ret->end = at->at + (size_t)length;
	ret->id = cursor_sized(at, ret->offset_size);
	return !at->failed;
}

static bool is_common(const struct cfi_section *section, const struct entry_header *header)
{
	if (section->is_eh)
		return header->id == 0;
	return header->id == (header->offset_size == 8 ? UINT64_MAX : UINT32_MAX);
}

// Where the common information of a description stands.
static uint64_t common_of(const struct cfi_section *section, const struct entry_header *header)
{
	return section->is_eh ? header->id_at - header->id : header->id;
}

// "zPLR…": what each letter says of the data that follow.
static void read_augmentation(const struct cfi_section *section, struct cursor *at,
			      const char *augmentation, struct frame_description *ret)
{
	for (const char *letter = augmentation + 1; *letter && !at->failed; letter++) {
		switch (*letter) {
		case 'R':
			ret->pointer_encoding = cursor_u8(at);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(at);
			// The personality is of no interest, only where it ends.
			cfi_pointer(at, section->address, encoding & 0x0f, ret->address_size);
			break;
		}
		case 'L':
			cursor_u8(at);
			break;
		case 'S':
			ret->is_signal = true;
			break;
		default:
			// 'B' (aarch64: the key of signed addresses) has no data; others are
			// unknown.
			if (*letter != 'B' && *letter != 'G')
				return;
		}
	}
}

static bool read_common(const struct cfi *cfi, const struct cfi_section *section, uint64_t offset,
			struct frame_description *ret)
{
	struct cursor at = section->bytes;
	struct entry_header header;
	if (offset > at.size)
		return false;
	at.at = (size_t)offset;
	if (!read_entry_header(&at, &header) || !is_common(section, &header))
		return false;
	uint8_t version = cursor_u8(&at);
	const char *augmentation = cursor_string(&at);
	ret->address_size = cfi->address_size;
	ret->pointer_encoding = DW_EH_PE_absptr;
	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) {
		ret->address_size = cursor_u8(&at);
		cursor_u8(&at);
	}
	ret->code_alignment = cursor_uleb(&at);
	ret->data_alignment = cursor_sleb(&at);
	ret->return_column = version == 1 ? cursor_u8(&at) : cursor_uleb(&at);
	if (augmentation[0] == 'z') {
		ret->has_augmentation_data = true;
		uint64_t size = cursor_uleb(&at);
		struct cursor data = at;
		cursor_skip(&at, (size_t)size);
		read_augmentation(section, &data, augmentation, ret);
		if (data.failed)
			return false;
	} else if (augmentation[0]) {
		return false;
	}
	ret->common_start = at.at;
	ret->common_end = header.end;
	return !at.failed && at.at <= header.end;
}

// Reads the description whose header is at OFFSET.
static bool read_description(const struct cfi *cfi, const struct cfi_section *section,
			     size_t offset, struct frame_description *ret)
{
	struct cursor at = section->bytes;
	struct entry_header header;
	*ret = (struct frame_description){ .section = section->bytes,
					   .section_address = section->address };
	at.at = offset;
	if (!read_entry_header(&at, &header) || is_common(section, &header) ||
	    !read_common(cfi, section, common_of(section, &header), ret))
		return false;
	ret->start = cfi_pointer(&at, section->address, ret->pointer_encoding, ret->address_size);
	uint64_t size = cfi_pointer(&at, 0, ret->pointer_encoding & 0x0f, ret->address_size);
	ret->end = ret->start + size;
	if (ret->has_augmentation_data) {
		uint64_t data = cursor_uleb(&at);
		cursor_skip(&at, (size_t)data);
	}
	ret->own_start = at.at;
	ret->own_end = header.end;
	return !at.failed && at.at <= header.end && ret->end > ret->start;
}

static bool add_entry(struct cfi *cfi, uint32_t section, size_t offset)
{
	struct frame_description description;
	if (offset > UINT32_MAX ||
	    !read_description(cfi, &cfi->sections[section], offset, &description))
		return true;
	// What the linker dropped.
	if (description.start == 0)
		return true;
	struct entry *added = array_add(&cfi->entries);
	if (added)
		*added = (struct entry){ description.start, description.end, (uint32_t)offset,
					 section };
	return added;
}

static bool walk_section(struct cfi *cfi, uint32_t index)
{
	const struct cfi_section *section = &cfi->sections[index];
	struct cursor at = section->bytes;
	while (cursor_left(&at)) {
		size_t offset = at.at;
		struct entry_header header;
		if (!read_entry_header(&at, &header))
			return true;
		if (!is_common(section, &header) && !add_entry(cfi, index, offset))
			return false;
		at.at = header.end;
	}
	return true;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void take_section(struct cfi *cfi, size_t index, const struct elf_image *image,
			 const char *name)
{
	const struct elf_section *section = image ? elf_image_section_named(image, name) : NULL;
	// Compressed frame information is not read: compilers and linkers leave .eh_frame as it is.
	if (!section || section->flags & UINT64_C(0x800))
		return;
	cfi->sections[index] = (struct cfi_section){
		.bytes = elf_image_section_bytes(image, section),
		.address = section->address,
		.is_eh = name[1] == 'e',
	};
}

struct imp_error *cfi_new(const struct elf_image *image, const struct elf_image *debug,
			  struct cfi **ret)
{
	struct cfi *cfi = calloc(1, sizeof *cfi);
	if (!cfi)
		return &imp_error_no_memory;
	cfi->address_size = elf_image_is_64bit(image) ? 8 : 4;
	take_section(cfi, 0, image, ".eh_frame");
	take_section(cfi, 1, image, ".debug_frame");
	// A prelinked image's debug file speaks of other addresses.
	uint64_t shift;
	if (debug == image || (debug && (!elf_image_shift(image, debug, &shift) || shift)))
		debug = NULL;
	take_section(cfi, 2, debug, ".debug_frame");
	for (uint32_t i = 0; i < section_count; i++)
		if (!walk_section(cfi, i)) {
			cfi_free(cfi);
			return &imp_error_no_memory;
		}
	if (cfi->entries.count)
		qsort(cfi->entries.items, cfi->entries.count, sizeof *cfi->entries.items,
		      compare_entries);
	*ret = cfi;
	return NULL;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	array_fini(&cfi->entries);
	free(cfi);
}

bool cfi_at(const struct cfi *cfi, uint64_t address, struct frame_description *ret)
{
	size_t low = 0, high = cfi->entries.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (cfi->entries.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	// Both sections may describe the function: .eh_frame, of the lower number, is asked first.
	while (low > 1 && cfi->entries.items[low - 2].start == cfi->entries.items[low - 1].start)
		low--;
	const struct entry *entry = low ? &cfi->entries.items[low - 1] : NULL;
	return entry && address < entry->end &&
	       read_description(cfi, &cfi->sections[entry->section], entry->offset, ret);
}
