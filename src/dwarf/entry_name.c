// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Following abstract origins and specifications to a name.
#include "dwarf/entry_name.h"

#include <dwarf.h>

// An instance, its abstract function, its declaration, and dwz's detours.
enum { most_hops = 8 };

void naming_take(struct naming *naming, uint16_t name, struct value value)
{
	switch (name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		naming->linkage_name = value;
		break;
	case DW_AT_name:
		naming->name = value;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		naming->origin = value;
		break;
	default:
		break;
	}
}

// Reads what names the entry at OFFSET. Where nothing can be read, *naming stays empty.
static void read_naming(const struct debug_file *file, const struct unit *unit,
			const struct abbrev_table *table, uint64_t offset, struct naming *naming)
{
	struct cursor entry = unit_cursor(file, unit, offset);
	uint64_t code = cursor_uleb(&entry);
	const struct abbrev *abbrev = entry.failed ? NULL : abbrev_find(table, code);
	if (!abbrev)
		return;
	const struct abbrev_attribute *attributes = abbrev_attributes(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		struct value value = value_read(file, unit, &entry, &attributes[i]);
		if (entry.failed)
			break;
		naming_take(naming, attributes[i].name, value);
	}
}

struct imp_error *entry_name(const struct debug_file *file, const struct unit *unit,
			     const struct abbrev_table *abbrevs, const struct naming *naming,
			     const char **ret)
{
	const struct unit *const own = unit;
	struct naming current = *naming;
	const char *plain = NULL;
	*ret = NULL;
	for (unsigned hops = 0; hops < most_hops; hops++) {
		const char *linkage = value_text(file, unit, &current.linkage_name);
		if (linkage) {
			*ret = linkage;
			return NULL;
		}
		if (!plain)
			plain = value_text(file, unit, &current.name);
		struct value origin = current.origin;
		if (origin.class == VALUE_ALT_REFERENCE)
			file = file->alt;
		else if (origin.class != VALUE_REFERENCE)
			break;
		unit = file ? debug_file_unit_at(file, origin.number) : NULL;
		if (!unit)
			break;
		current = (struct naming){ 0 };
		const struct abbrev_table *table = abbrevs;
		struct imp_error *err = NULL;
		if (unit != own)
			err = debug_file_abbrevs(file, unit, &table);
		if (err)
			return err;
		read_naming(file, unit, table, origin.number, &current);
	}
	*ret = plain;
	return NULL;
}
