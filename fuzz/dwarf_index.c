// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Saved indexes of source lines, as they come and with their sums put right, so that what stands
// behind the sums is reached, too.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf/dwarf.h"
#include "dwarf/index_format.h"
#include "fuzz.h"

static void mend_units(uint8_t *bytes, size_t size, const struct index_header *header)
{
	uint64_t first =
		sizeof *header + sizeof(struct index_boundary) * (uint64_t)header->boundary_count;
	for (uint64_t i = 0; i < header->unit_count; i++) {
		struct index_unit unit;
		uint64_t at = first + i * sizeof unit;
		if (at > size || size - at < sizeof unit)
			return;
		memcpy(&unit, bytes + at, sizeof unit);
		struct index_arrays arrays = index_arrays_of(&unit);
		if (unit.offset > size || arrays.size > size - unit.offset)
			continue;
		unit.checksum = hash_bytes(0, bytes + unit.offset, (size_t)arrays.size);
		memcpy(bytes + at, &unit, sizeof unit);
	}
}

static void mend(uint8_t *bytes, size_t size, const struct build_id *id)
{
	struct index_header header;
	memcpy(&header, bytes, sizeof header);
	memcpy(header.magic, INDEX_MAGIC, sizeof header.magic);
	header.version = INDEX_VERSION;
	header.byte_order = INDEX_BYTE_ORDER;
	header.file_size = size;
	header.id_size = id->size;
	memcpy(header.id, id->bytes, id->size);
	mend_units(bytes, size, &header);
	uint64_t directory = sizeof(struct index_boundary) * (uint64_t)header.boundary_count +
			     sizeof(struct index_unit) * (uint64_t)header.unit_count;
	if (directory <= size - sizeof header && header.strings_offset <= size &&
	    header.strings_size == size - header.strings_offset)
		header.checksum = index_checksum(&header, bytes + sizeof header, (size_t)directory,
						 bytes + header.strings_offset);
	memcpy(bytes, &header, sizeof header);
}

static void ask(struct dwarf *index, uint64_t address)
{
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
	uint32_t count;
	struct imp_error *err = dwarf_find(index, elf_addr_of(address), frames, &count);
	FUZZ_CHECK(count <= DWARF_MOST_FRAMES);
	size_t length = 0;
	for (uint32_t i = 0; !err && i < count; i++)
		length += (frames[i].name ? strlen(frames[i].name) : 0) +
			  (frames[i].file ? strlen(frames[i].file) : 0);
	FUZZ_CHECK(length < SIZE_MAX);
	imp_error_free(err);
}

static void open_and_ask(const uint8_t *bytes, size_t size, const struct build_id *id)
{
	struct dwarf *index = NULL;
	struct dwarf_sources sources;
	int fd = memfd_create("fuzzed", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	struct imp_error *err = dwarf_open_index(fd, "fuzzed", id, &sources, &index);
	for (uint64_t i = 0; index && i < 256; i++)
		ask(index, i * 64);
	size_t boundaries = size / sizeof(struct index_boundary);
	for (size_t i = 0; index && i < boundaries && i < 64; i++) {
		struct index_boundary boundary;
		size_t at = sizeof(struct index_header) + i * sizeof boundary;
		if (at + sizeof boundary > size)
			break;
		memcpy(&boundary, bytes + at, sizeof boundary);
		for (uint64_t behind = 0; behind < 40; behind += 3)
			ask(index, boundary.begin + behind);
	}
	dwarf_free(index);
	imp_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct build_id id = build_id_of("0123456789abcdefghij", 20);
	open_and_ask(bytes, size, &id);
	if (size < sizeof(struct index_header))
		return 0;
	uint8_t *copy = malloc(size);
	FUZZ_CHECK(copy);
	memcpy(copy, bytes, size);
	mend(copy, size, &id);
	open_and_ask(copy, size, &id);
	free(copy);
	return 0;
}
