// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A unit's abbreviation table (DWARF 5, section 7.5.3), with a short program for each abbreviation
// that steps over an entry without looking at its attributes.
#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "base/array.h"
#include "dwarf/leb.h"

// What the sizes of forms depend on.
struct encoding {
	uint16_t version;
	uint8_t address_size;
	// 4 or 8: 32-bit or 64-bit DWARF.
	uint8_t offset_size;
};

struct abbrev_attribute {
	uint16_t name;
	uint16_t form;
	// The value itself, for DW_FORM_implicit_const.
	int64_t implicit_value;
};

enum step_kind {
	STEP_FIXED,
	STEP_LEB,
	STEP_STRING,
	// A block after its size in `size` bytes; 0: as ULEB128.
	STEP_BLOCK,
	// DW_AT_sibling: a reference within the unit, of `size` bytes; 0: as ULEB128.
	STEP_SIBLING,
	// The form stands in the entry.
	STEP_INDIRECT,
	// An unknown form: the entry, and what follows it, cannot be read.
	STEP_UNKNOWN
};

struct step {
	enum step_kind kind;
	uint32_t size;
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_sibling;
	uint32_t first_attribute, attribute_count;
	uint32_t first_step, step_count;
};

// Zero-initialised is empty.
struct abbrev_table {
	ARRAY_OF(struct abbrev) abbrevs;
	ARRAY_OF(struct abbrev_attribute) attributes;
	ARRAY_OF(struct step) steps;
};

// Reads the table that CURSOR stands on. A table that ends early is bad data.
struct imp_error *abbrev_table_read(struct cursor *cursor, struct encoding encoding,
				    struct abbrev_table *ret) MUST_CHECK;
// Reads no further than the abbreviation of CODE.
struct imp_error *abbrev_table_read_one(struct cursor *cursor, struct encoding encoding,
					uint64_t code, struct abbrev_table *ret) MUST_CHECK;
void abbrev_table_fini(struct abbrev_table *table);

const struct abbrev *abbrev_find_slowly(const struct abbrev_table *table, uint64_t code);

// The abbreviation of CODE, or NULL.
static inline const struct abbrev *abbrev_find(const struct abbrev_table *table, uint64_t code)
{
	// All producers number from 1 without gaps.
	if (code - 1 < table->abbrevs.count && table->abbrevs.items[code - 1].code == code)
		return &table->abbrevs.items[code - 1];
	return abbrev_find_slowly(table, code);
}

static inline const struct abbrev_attribute *abbrev_attributes(const struct abbrev_table *table,
							       const struct abbrev *abbrev)
{
	return table->attributes.items + abbrev->first_attribute;
}

// Moves ENTRY, which stands on the first attribute, past the last one. *SIBLING becomes the offset
// (in the unit) of the next entry of the same level where that is told, and stays as it is
// otherwise.
void abbrev_step_over(const struct abbrev_table *table, const struct abbrev *abbrev,
		      struct encoding encoding, struct cursor *entry, uint64_t *sibling);

// The step that FORM's value takes.
struct step step_of_form(uint64_t form, struct encoding encoding);

#endif
