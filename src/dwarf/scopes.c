// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One walk over a unit's entries that reads functions and inlined calls and steps over the rest.
#include "dwarf/scopes.h"

#include <dwarf.h>

#include "base/hash.h"
#include "base/table.h"
#include "dwarf/entry_name.h"
#include "dwarf/ranges.h"

// What the walk does with an entry, by its tag.
enum entry_role {
	// Its children are not looked at.
	ROLE_LEAF,
	// Its children belong to the scope that it is in.
	ROLE_CONTAINER,
	// A type whose methods may have their code inside it.
	ROLE_TYPE,
	ROLE_FUNCTION,
	ROLE_INLINED
};

static enum entry_role role_of(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return ROLE_CONTAINER;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return ROLE_TYPE;
	case DW_TAG_subprogram:
		return ROLE_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return ROLE_INLINED;
	default:
		return ROLE_LEAF;
	}
}

// Code of C and assembler stands at the outermost level of its unit. That of C++, Rust and others
// may stand in types, and in abstract functions (gcc puts lambdas there).
static bool language_is_flat(uint16_t language)
{
	return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == DW_LANG_Mips_Assembler;
}

struct entry {
	struct naming naming;
	struct code_place code;
	uint32_t call_file, call_line, call_column;
	// DW_AT_sibling, as an offset in the unit; 0 without.
	uint64_t sibling;
	bool has_code;
};

// The names of this unit's scopes, found by the entry that they come from.
struct known_name {
	uint64_t origin;
	uint32_t name;
};

struct walk {
	const struct debug_file *file;
	const struct unit *unit;
	struct abbrev_table abbrevs;
	struct cursor entries;
	struct scope_tree *tree;
	// For each open level the scope that its entries are in.
	ARRAY_OF(uint32_t) levels;
	// Levels from here on are only stepped over; 0: none.
	size_t skipped_from;
	uint64_t range_budget;
	struct table known;
	ARRAY_OF(struct known_name) known_names;
	bool is_flat;
};

static uint32_t clamp_u32(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void take_attribute(const struct walk *walk, struct entry *entry, uint16_t name,
			   struct value value)
{
	switch (name) {
	case DW_AT_low_pc:
		entry->code.has_low_pc =
			value_address(walk->file, walk->unit, &value, &entry->code.low_pc);
		break;
	case DW_AT_high_pc:
		entry->code.high_pc = value;
		entry->has_code = true;
		break;
	case DW_AT_ranges:
		entry->code.ranges = value;
		entry->has_code = true;
		break;
	case DW_AT_call_file:
		entry->call_file = clamp_u32(value.number);
		break;
	case DW_AT_call_line:
		entry->call_line = clamp_u32(value.number);
		break;
	case DW_AT_call_column:
		entry->call_column = clamp_u32(value.number);
		break;
	case DW_AT_sibling:
		if (value.class == VALUE_REFERENCE)
			entry->sibling = value.number - walk->unit->offset;
		break;
	default:
		naming_take(&entry->naming, name, value);
		break;
	}
}

static void read_entry(struct walk *walk, const struct abbrev *abbrev, struct entry *entry)
{
	const struct abbrev_attribute *attributes = abbrev_attributes(&walk->abbrevs, abbrev);
	*entry = (struct entry){ 0 };
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		struct value value =
			value_read(walk->file, walk->unit, &walk->entries, &attributes[i]);
		if (walk->entries.failed)
			return;
		take_attribute(walk, entry, attributes[i].name, value);
	}
}

static struct imp_error *add_name(struct walk *walk, const struct naming *naming, uint32_t *ret)
{
	const char *name;
	struct imp_error *err = entry_name(walk->file, walk->unit, &walk->abbrevs, naming, &name);
	if (err)
		return err;
	*ret = NO_NAME;
	if (!name)
		return NULL;
	const char **added = array_add(&walk->tree->names);
	if (!added)
		return &imp_error_no_memory;
	*added = name;
	*ret = (uint32_t)(walk->tree->names.count - 1);
	return NULL;
}

// Many calls of one function are inlined into a unit: its name is looked for once.
static struct imp_error *find_name(struct walk *walk, const struct naming *naming, uint32_t *ret)
{
	uint64_t origin = naming->origin.number << 1 |
			  (naming->origin.class == VALUE_ALT_REFERENCE);
	bool is_shared = naming->origin.class != VALUE_NONE && !naming->linkage_name.class &&
			 !naming->name.class;
	if (!is_shared)
		return add_name(walk, naming, ret);
	uint64_t hash = hash_mix(0, origin);
	struct table_probe probe = table_probe(&walk->known, hash);
	uint32_t index;
	while (table_next(&walk->known, &probe, &index))
		if (walk->known_names.items[index].origin == origin) {
			*ret = walk->known_names.items[index].name;
			return NULL;
		}
	struct known_name known = { .origin = origin };
	struct imp_error *err = add_name(walk, naming, &known.name);
	if (err)
		return err;
	struct known_name *added = array_add(&walk->known_names);
	if (!added || !table_insert(&walk->known, hash, (uint32_t)(walk->known_names.count - 1)))
		return &imp_error_no_memory;
	*added = known;
	*ret = known.name;
	return NULL;
}

static struct imp_error *add_scope(struct walk *walk, const struct entry *entry, bool is_inlined,
				   uint32_t *ret)
{
	struct scope_tree *tree = walk->tree;
	if (tree->scopes.count >= NO_SCOPE - 1)
		return NULL;
	struct scope scope = { .parent = NO_SCOPE, .call_file = NO_FILE };
	if (is_inlined)
		scope = (struct scope){ .parent = walk->levels.items[walk->levels.count - 1],
					.call_file = entry->call_file,
					.call_line = entry->call_line,
					.call_column = entry->call_column };
	struct imp_error *err = find_name(walk, &entry->naming, &scope.name);
	if (err)
		return err;
	struct scope *added = array_add(&tree->scopes);
	if (!added)
		return &imp_error_no_memory;
	*added = scope;
	*ret = (uint32_t)(tree->scopes.count - 1);
	return ranges_of_place(walk->file, walk->unit, &entry->code, *ret, &walk->range_budget,
			       &tree->places);
}

static struct imp_error *open_level(struct walk *walk, uint32_t scope, bool is_skipped,
				    uint64_t sibling)
{
	if (is_skipped && sibling > walk->entries.at && sibling < walk->entries.size) {
		walk->entries.at = (size_t)sibling;
		return NULL;
	}
	uint32_t *added = array_add(&walk->levels);
	if (!added)
		return &imp_error_no_memory;
	*added = scope;
	if (is_skipped)
		walk->skipped_from = walk->levels.count;
	return NULL;
}

static struct imp_error *visit_scope(struct walk *walk, const struct abbrev *abbrev,
				     enum entry_role role)
{
	struct entry entry;
	uint32_t scope = walk->levels.items[walk->levels.count - 1];
	read_entry(walk, abbrev, &entry);
	if (walk->entries.failed)
		return NULL;
	if (entry.has_code) {
		struct imp_error *err = add_scope(walk, &entry, role == ROLE_INLINED, &scope);
		if (err)
			return err;
	}
	if (!abbrev->has_children)
		return NULL;
	// What has no code of its own is a declaration or the abstract form of an inlined function.
	if (!entry.has_code)
		return open_level(walk, NO_SCOPE, walk->is_flat, entry.sibling);
	return open_level(walk, scope, false, 0);
}

static struct imp_error *visit_other(struct walk *walk, const struct abbrev *abbrev,
				     enum entry_role role)
{
	uint64_t sibling = 0;
	abbrev_step_over(&walk->abbrevs, abbrev, walk->unit->encoding, &walk->entries, &sibling);
	if (walk->entries.failed || !abbrev->has_children)
		return NULL;
	bool is_skipped = role == ROLE_LEAF || (role == ROLE_TYPE && walk->is_flat);
	uint32_t scope = walk->levels.count ? walk->levels.items[walk->levels.count - 1] : NO_SCOPE;
	return open_level(walk, scope, is_skipped, sibling);
}

static struct imp_error *visit(struct walk *walk, const struct abbrev *abbrev)
{
	if (walk->skipped_from) {
		uint64_t sibling = 0;
		abbrev_step_over(&walk->abbrevs, abbrev, walk->unit->encoding, &walk->entries,
				 &sibling);
		if (!abbrev->has_children)
			return NULL;
		if (sibling > walk->entries.at && sibling < walk->entries.size) {
			walk->entries.at = (size_t)sibling;
			return NULL;
		}
		return array_add(&walk->levels) ? NULL : &imp_error_no_memory;
	}
	enum entry_role role = role_of(abbrev->tag);
	if (walk->levels.count && (role == ROLE_FUNCTION || role == ROLE_INLINED))
		return visit_scope(walk, abbrev, role);
	return visit_other(walk, abbrev, role);
}

static void close_level(struct walk *walk)
{
	if (walk->skipped_from == walk->levels.count)
		walk->skipped_from = 0;
	walk->levels.count--;
}

static struct imp_error *walk_entries(struct walk *walk)
{
	do {
		uint64_t code = cursor_uleb(&walk->entries);
		if (walk->entries.failed)
			return NULL;
		if (code == 0) {
			if (walk->levels.count)
				close_level(walk);
			continue;
		}
		const struct abbrev *abbrev = abbrev_find(&walk->abbrevs, code);
		if (!abbrev)
			return NULL;
		struct imp_error *err = visit(walk, abbrev);
		if (err)
			return err;
	} while (!walk->entries.failed && walk->levels.count);
	return NULL;
}

struct imp_error *scope_tree_read(const struct debug_file *file, const struct unit *unit,
				  struct scope_tree *ret)
{
	const struct section *all = file->sections.all;
	struct walk walk = {
		.file = file,
		.unit = unit,
		.entries = unit_cursor(file, unit, unit->root),
		.tree = ret,
		.range_budget = 1024 + all[DEBUG_RANGES].size + all[DEBUG_RNGLISTS].size,
		.is_flat = language_is_flat(unit->language),
	};
	struct cursor abbrevs =
		debug_section_from(&file->sections, DEBUG_ABBREV, unit->abbrev_offset);
	struct imp_error *err = abbrev_table_read(&abbrevs, unit->encoding, &walk.abbrevs);
	if (!err)
		err = walk_entries(&walk);
	else if (imp_error_code(err) != IMP_ERR_NO_MEMORY)
		imp_error_free(steal(err));
	abbrev_table_fini(&walk.abbrevs);
	array_fini(&walk.levels);
	table_fini(&walk.known);
	array_fini(&walk.known_names);
	return err;
}

void scope_tree_fini(struct scope_tree *tree)
{
	array_fini(&tree->scopes);
	array_fini(&tree->names);
	array_fini(&tree->places.list);
}
