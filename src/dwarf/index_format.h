// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The structures of a saved index as they lie in the file: see index.h.
#ifndef DWARF_INDEX_FORMAT_H
#define DWARF_INDEX_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "dwarf/dwarf.h"
#include "dwarf/unit_tables.h"

enum { INDEX_VERSION = 2, INDEX_BYTE_ORDER = 0x01020304 };
#define INDEX_MAGIC "imprdwix"

struct index_header {
	char magic[8];
	uint32_t version, byte_order;
	uint64_t file_size;
	uint64_t checksum;
	uint32_t unit_count, boundary_count;
	uint64_t strings_offset, strings_size;
	uint32_t id_size;
	uint8_t id[64];
	uint32_t padding;
	struct dwarf_sources sources;
};
_Static_assert(sizeof(struct index_header) == 272, "an index header has no holes");

struct index_boundary {
	uint64_t begin;
	uint32_t owner, padding;
};

struct index_unit {
	uint64_t base, offset, checksum;
	uint32_t owner_count, scope_count, row_count, name_count, file_count, padding;
};
_Static_assert(sizeof(struct index_unit) == 48, "an index unit has no holes");

// Of what stands behind the checksum in the header, the SIZE bytes of DIRECTORY, and STRINGS.
static inline uint64_t index_checksum(const struct index_header *header, const void *directory,
				      size_t size, const void *strings)
{
	size_t behind = offsetof(struct index_header, unit_count);
	uint64_t sum = hash_bytes(0, (const uint8_t *)header + behind, sizeof *header - behind);
	sum = hash_bytes(sum, directory, size);
	return hash_bytes(sum, strings, (size_t)header->strings_size);
}

// Where the arrays of a unit's tables begin, counted from the first; `size` is of all.
struct index_arrays {
	uint64_t owner_starts, owners, scopes, row_starts, rows, names, files, size;
};

static inline struct index_arrays index_arrays_of(const struct index_unit *unit)
{
	struct index_arrays at = { .owner_starts = 0 };
	at.owners = at.owner_starts + UINT64_C(4) * unit->owner_count;
	at.scopes = at.owners + UINT64_C(4) * unit->owner_count;
	at.row_starts = at.scopes + sizeof(struct scope) * (uint64_t)unit->scope_count;
	at.rows = at.row_starts + UINT64_C(4) * unit->row_count;
	at.names = at.rows + sizeof(struct line_row) * (uint64_t)unit->row_count;
	at.files = at.names + UINT64_C(4) * unit->name_count;
	at.size = (at.files + UINT64_C(4) * unit->file_count + 7) & ~UINT64_C(7);
	return at;
}

#endif
