// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Unit headers (DWARF 5, section 7.5.1) and the attributes of root entries.
#include "dwarf/debug_file.h"

#include <dwarf.h>

// Units whose abbreviations overlap cannot make the reading of root entries quadratic: this many
// times the size of .debug_abbrev is read at most.
static const uint64_t abbrev_readings = 16;

enum { units_between_releases = 64 };

struct cursor unit_cursor(const struct debug_file *file, const struct unit *unit, uint64_t offset)
{
	const struct section *section = &file->sections.all[DEBUG_INFO];
	struct cursor cursor =
		cursor_over(section->bytes + unit->offset, (size_t)(unit->end - unit->offset));
	cursor.swap = file->sections.swap;
	cursor.origin = unit->offset;
	if (offset < unit->root || offset >= unit->end)
		cursor.failed = true;
	else
		cursor.at = (size_t)(offset - unit->offset);
	return cursor;
}

static void read_header_v5(struct cursor *info, struct unit *unit)
{
	unit->type = cursor_u8(info);
	unit->encoding.address_size = cursor_u8(info);
	unit->abbrev_offset = cursor_sized(info, unit->encoding.offset_size);
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->split_id = cursor_u64(info);
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
		cursor_u64(info);
		cursor_sized(info, unit->encoding.offset_size);
	}
}

// False at the end, or where nothing that can be read stands; then the list of units ends.
static bool read_header(struct cursor *info, struct unit *unit)
{
	if (cursor_left(info) == 0)
		return false;
	unit->offset = info->at;
	uint64_t length = cursor_unit_length(info, &unit->encoding.offset_size);
	if (info->failed || length > cursor_left(info))
		return false;
	unit->end = info->at + length;
	unit->encoding.version = cursor_u16(info);
	if (unit->encoding.version >= 5) {
		read_header_v5(info, unit);
	} else {
		unit->type = DW_UT_compile;
		unit->abbrev_offset = cursor_sized(info, unit->encoding.offset_size);
		unit->encoding.address_size = cursor_u8(info);
	}
	unit->root = info->at;
	return !info->failed && unit->root <= unit->end;
}

static bool is_readable(const struct unit *unit)
{
	uint8_t size = unit->encoding.address_size;
	return unit->encoding.version >= 2 && unit->encoding.version <= 5 &&
	       (size == 2 || size == 4 || size == 8) && unit->root < unit->end;
}

static uint64_t offset_of(const struct value *value)
{
	// DWARF 2 and 3 wrote offsets as constants.
	return value->class == VALUE_OFFSET || value->class == VALUE_CONSTANT ? value->number
									      : UINT64_MAX;
}

// The attributes of a root entry whose meaning depends on others.
struct root_values {
	struct value low_pc, name, directory, split_name;
};

static void take_root_value(struct unit *unit, struct root_values *root, uint16_t name,
			    struct value value)
{
	switch (name) {
	case DW_AT_low_pc:
		root->low_pc = value;
		break;
	case DW_AT_high_pc:
		unit->high_pc = value;
		break;
	case DW_AT_ranges:
		unit->ranges = value;
		break;
	case DW_AT_stmt_list:
		unit->line_offset = offset_of(&value);
		break;
	case DW_AT_name:
		root->name = value;
		break;
	case DW_AT_comp_dir:
		root->directory = value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		root->split_name = value;
		break;
	case DW_AT_language:
		unit->language = (uint16_t)value.number;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = offset_of(&value);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = offset_of(&value);
		break;
	case DW_AT_GNU_dwo_id:
		unit->split_id = value.number;
		break;
	case DW_AT_GNU_ranges_base:
		unit->split_ranges_base = offset_of(&value);
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = offset_of(&value);
		break;
	default:
		break;
	}
}

static void read_root(const struct debug_file *file, struct unit *unit,
		      const struct abbrev_table *table, const struct abbrev *abbrev,
		      struct cursor *entry)
{
	struct root_values root = { 0 };
	const struct abbrev_attribute *attributes = abbrev_attributes(table, abbrev);
	unit->tag = abbrev->tag;
	for (uint32_t i = 0; i < abbrev->attribute_count && !entry->failed; i++) {
		struct value value = value_read(file, unit, entry, &attributes[i]);
		if (!entry->failed)
			take_root_value(unit, &root, attributes[i].name, value);
	}
	unit->name = value_text(file, unit, &root.name);
	unit->directory = value_text(file, unit, &root.directory);
	unit->split_name = value_text(file, unit, &root.split_name);
	unit->has_low_pc = value_address(file, unit, &root.low_pc, &unit->low_pc);
}

// Reads the root entry of UNIT. A unit that cannot be read stays without attributes.
static struct imp_error *read_unit(const struct debug_file *file, struct unit *unit,
				   uint64_t *budget)
{
	struct cursor entry = unit_cursor(file, unit, unit->root);
	uint64_t code = cursor_uleb(&entry);
	struct cursor abbrevs =
		debug_section_from(&file->sections, DEBUG_ABBREV, unit->abbrev_offset);
	if (entry.failed || abbrevs.failed || code == 0 || *budget == 0)
		return NULL;
	struct abbrev_table table = { 0 };
	struct imp_error *err = abbrev_table_read_one(&abbrevs, unit->encoding, code, &table);
	uint64_t spent = abbrevs.at - unit->abbrev_offset;
	*budget -= spent < *budget ? spent : *budget;
	if (err) {
		bool is_fatal = imp_error_code(err) == IMP_ERR_NO_MEMORY;
		if (!is_fatal)
			imp_error_free(err);
		return is_fatal ? err : NULL;
	}
	const struct abbrev *abbrev = abbrev_find(&table, code);
	if (abbrev)
		read_root(file, unit, &table, abbrev, &entry);
	abbrev_table_fini(&table);
	return NULL;
}

struct imp_error *debug_file_read_units(struct debug_file *file)
{
	struct cursor info = debug_section_from(&file->sections, DEBUG_INFO, 0);
	uint64_t budget = 4096 + abbrev_readings * file->sections.all[DEBUG_ABBREV].size;
	ARRAY_OF(struct unit) units = { 0 };
	struct unit unit = { .line_offset = UINT64_MAX };
	struct imp_error *err = NULL;
	size_t released = 0;
	while (!err && read_header(&info, &unit)) {
		if (is_readable(&unit)) {
			err = read_unit(file, &unit, &budget);
			struct unit *added = err ? NULL : array_add(&units);
			if (added)
				*added = unit;
			else if (!err)
				err = &imp_error_no_memory;
		}
		info.at = (size_t)unit.end;
		// Reading a root brings the pages around it in; of big files they add up.
		if (units.count % units_between_releases == 0) {
			debug_section_release(&file->sections, DEBUG_INFO, released,
					      info.at - released);
			released = info.at;
		}
		unit = (struct unit){ .line_offset = UINT64_MAX };
	}
	file->units = units.items;
	file->unit_count = units.count;
	if (!err && units.count) {
		file->abbrevs = calloc(units.count, sizeof *file->abbrevs);
		if (!file->abbrevs)
			err = &imp_error_no_memory;
	}
	return err;
}

void debug_file_fini(struct debug_file *file)
{
	for (size_t i = 0; file->abbrevs && i < file->unit_count; i++) {
		struct abbrev_table *table = atomic_load(&file->abbrevs[i]);
		if (table)
			abbrev_table_fini(table);
		free(table);
	}
	free(file->abbrevs);
	free(file->units);
	debug_sections_close(&file->sections);
	*file = (struct debug_file){ 0 };
}

const struct unit *debug_file_unit_at(const struct debug_file *file, uint64_t offset)
{
	size_t low = 0, high = file->unit_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (file->units[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < file->units[low - 1].end ? &file->units[low - 1] : NULL;
}

struct imp_error *debug_file_abbrevs(const struct debug_file *file, const struct unit *unit,
				     const struct abbrev_table **ret)
{
	_Atomic(struct abbrev_table *) *place = &file->abbrevs[unit - file->units];
	struct abbrev_table *table = atomic_load(place);
	if (!table) {
		struct cursor cursor =
			debug_section_from(&file->sections, DEBUG_ABBREV, unit->abbrev_offset);
		table = calloc(1, sizeof *table);
		if (!table)
			return &imp_error_no_memory;
		struct imp_error *err = abbrev_table_read(&cursor, unit->encoding, table);
		if (err) {
			free(table);
			return err;
		}
		struct abbrev_table *other = NULL;
		if (!atomic_compare_exchange_strong(place, &other, table)) {
			abbrev_table_fini(table);
			free(table);
			table = other;
		}
	}
	*ret = table;
	return NULL;
}
