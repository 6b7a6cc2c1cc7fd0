// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A file with DWARF in it: its sections and the list of its units, each read no further than its
// root entry.
#ifndef DWARF_DEBUG_FILE_H
#define DWARF_DEBUG_FILE_H

#include <stdatomic.h>

#include "dwarf/abbrev.h"
#include "dwarf/sections.h"

struct split_files;

enum value_class {
	VALUE_NONE,
	VALUE_ADDRESS,
	// An index into .debug_addr.
	VALUE_ADDRESS_INDEX,
	// Also flags.
	VALUE_CONSTANT,
	VALUE_STRING,
	// An index into .debug_str_offsets.
	VALUE_STRING_INDEX,
	// An offset in .debug_info of this file, or of the supplementary file.
	VALUE_REFERENCE,
	VALUE_ALT_REFERENCE,
	// An offset in the section that the attribute means.
	VALUE_OFFSET,
	// An index into the unit's offsets of .debug_rnglists.
	VALUE_RANGES_INDEX,
	// Well formed, and of no use here: blocks, type signatures.
	VALUE_OTHER
};

struct value {
	enum value_class class;
	uint64_t number;
	// Lent by the sections; for VALUE_STRING.
	const char *text;
};

struct unit {
	// In .debug_info: of the header, of the root entry, and of what follows the unit.
	uint64_t offset, root, end;
	uint64_t abbrev_offset;
	struct encoding encoding;
	// DW_UT_…, DW_TAG_… of the root and DW_LANG_…
	uint8_t type;
	uint16_t tag;
	uint16_t language;
	uint64_t low_pc;
	uint64_t str_offsets_base, addr_base, rnglists_base;
	// What offsets of .debug_ranges count from: other than 0 in split units only, whose
	// skeleton tells it.
	uint64_t ranges_base, split_ranges_base;
	// The ID that a skeleton and its split unit have in common.
	uint64_t split_id;
	// DW_AT_stmt_list; UINT64_MAX without.
	uint64_t line_offset;
	// DW_AT_ranges and DW_AT_high_pc.
	struct value ranges, high_pc;
	bool has_low_pc;
	// Lent by the sections, or NULL. A unit with a split_name is the skeleton of one in another
	// file.
	const char *name, *directory, *split_name;
};

struct debug_file {
	struct debug_sections sections;
	struct unit *units;
	size_t unit_count;
	// The abbreviations of each unit, read when another unit's entries refer to it.
	_Atomic(struct abbrev_table *) *abbrevs;
	// The file dwz moved common entries to; lent; or NULL.
	const struct debug_file *alt;
	// Where the split units of skeletons are; lent; or NULL.
	struct split_files *splits;
	// Code lies in [code_start, code_end); what names addresses outside was dropped by the
	// linker.
	uint64_t code_start, code_end;
};

// Reads the units of FILE, whose sections and bounds are set. Damaged units end the list; what came
// before them is kept.
struct imp_error *debug_file_read_units(struct debug_file *file) MUST_CHECK;
void debug_file_fini(struct debug_file *file);

// The unit that OFFSET of .debug_info lies in, or NULL.
const struct unit *debug_file_unit_at(const struct debug_file *file, uint64_t offset);

// The abbreviations of UNIT, lent by FILE; kept until debug_file_fini(). Safe from many threads.
struct imp_error *debug_file_abbrevs(const struct debug_file *file, const struct unit *unit,
				     const struct abbrev_table **ret) MUST_CHECK;

// A cursor over UNIT's entries that stands at OFFSET of .debug_info; failed when that is not in the
// unit. Its positions are offsets in the unit.
struct cursor unit_cursor(const struct debug_file *file, const struct unit *unit, uint64_t offset);

// Reads the value of ATTRIBUTE that CURSOR stands on. An unknown form fails the cursor.
struct value value_read(const struct debug_file *file, const struct unit *unit,
			struct cursor *cursor, const struct abbrev_attribute *attribute);

// The string a value means, lent, or NULL.
const char *value_text(const struct debug_file *file, const struct unit *unit,
		       const struct value *value);

// The address a value means. False when it means none.
bool value_address(const struct debug_file *file, const struct unit *unit,
		   const struct value *value, uint64_t *ret);

// Entry INDEX of .debug_addr for UNIT.
bool unit_address_at(const struct debug_file *file, const struct unit *unit, uint64_t index,
		     uint64_t *ret);

#endif
