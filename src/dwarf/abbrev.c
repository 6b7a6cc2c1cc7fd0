// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading abbreviation tables and stepping over entries.
#include "dwarf/abbrev.h"

#include <dwarf.h>

// Sizes that depend on the unit.
enum { OF_ADDRESS = 0x80, OF_OFFSET, OF_REF_ADDR };

// How each form is stepped over; a form without a row is unknown.
static const struct step forms[] = {
	[DW_FORM_flag_present] = { STEP_FIXED, 0 },
	[DW_FORM_implicit_const] = { STEP_FIXED, 0 },
	[DW_FORM_data1] = { STEP_FIXED, 1 },
	[DW_FORM_ref1] = { STEP_FIXED, 1 },
	[DW_FORM_flag] = { STEP_FIXED, 1 },
	[DW_FORM_strx1] = { STEP_FIXED, 1 },
	[DW_FORM_addrx1] = { STEP_FIXED, 1 },
	[DW_FORM_data2] = { STEP_FIXED, 2 },
	[DW_FORM_ref2] = { STEP_FIXED, 2 },
	[DW_FORM_strx2] = { STEP_FIXED, 2 },
	[DW_FORM_addrx2] = { STEP_FIXED, 2 },
	[DW_FORM_strx3] = { STEP_FIXED, 3 },
	[DW_FORM_addrx3] = { STEP_FIXED, 3 },
	[DW_FORM_data4] = { STEP_FIXED, 4 },
	[DW_FORM_ref4] = { STEP_FIXED, 4 },
	[DW_FORM_strx4] = { STEP_FIXED, 4 },
	[DW_FORM_addrx4] = { STEP_FIXED, 4 },
	[DW_FORM_ref_sup4] = { STEP_FIXED, 4 },
	[DW_FORM_data8] = { STEP_FIXED, 8 },
	[DW_FORM_ref8] = { STEP_FIXED, 8 },
	[DW_FORM_ref_sig8] = { STEP_FIXED, 8 },
	[DW_FORM_ref_sup8] = { STEP_FIXED, 8 },
	[DW_FORM_data16] = { STEP_FIXED, 16 },
	[DW_FORM_addr] = { STEP_FIXED, OF_ADDRESS },
	[DW_FORM_ref_addr] = { STEP_FIXED, OF_REF_ADDR },
	[DW_FORM_strp] = { STEP_FIXED, OF_OFFSET },
	[DW_FORM_line_strp] = { STEP_FIXED, OF_OFFSET },
	[DW_FORM_sec_offset] = { STEP_FIXED, OF_OFFSET },
	[DW_FORM_strp_sup] = { STEP_FIXED, OF_OFFSET },
	[DW_FORM_udata] = { STEP_LEB, 0 },
	[DW_FORM_sdata] = { STEP_LEB, 0 },
	[DW_FORM_ref_udata] = { STEP_LEB, 0 },
	[DW_FORM_strx] = { STEP_LEB, 0 },
	[DW_FORM_addrx] = { STEP_LEB, 0 },
	[DW_FORM_loclistx] = { STEP_LEB, 0 },
	[DW_FORM_rnglistx] = { STEP_LEB, 0 },
	[DW_FORM_string] = { STEP_STRING, 0 },
	[DW_FORM_block1] = { STEP_BLOCK, 1 },
	[DW_FORM_block2] = { STEP_BLOCK, 2 },
	[DW_FORM_block4] = { STEP_BLOCK, 4 },
	[DW_FORM_block] = { STEP_BLOCK, 0 },
	[DW_FORM_exprloc] = { STEP_BLOCK, 0 },
	[DW_FORM_indirect] = { STEP_INDIRECT, 0 },
};

static bool has_row(uint64_t form)
{
	return form < sizeof forms / sizeof *forms &&
	       (forms[form].kind != STEP_FIXED || forms[form].size ||
		form == DW_FORM_flag_present || form == DW_FORM_implicit_const);
}

struct step step_of_form(uint64_t form, struct encoding encoding)
{
	if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_GNU_ref_alt)
		return (struct step){ STEP_FIXED, encoding.offset_size };
	if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		return (struct step){ STEP_LEB, 0 };
	if (!has_row(form))
		return (struct step){ STEP_UNKNOWN, 0 };
	struct step step = forms[form];
	// DWARF 2 gave a reference to another unit the size of an address.
	if (step.size == OF_REF_ADDR)
		step.size = encoding.version <= 2 ? OF_ADDRESS : OF_OFFSET;
	if (step.size == OF_ADDRESS)
		step.size = encoding.address_size;
	else if (step.size == OF_OFFSET)
		step.size = encoding.offset_size;
	return step;
}

static bool is_unit_reference(uint64_t form)
{
	return form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
	       form == DW_FORM_ref8 || form == DW_FORM_ref_udata;
}

static bool add_step(struct abbrev_table *table, struct abbrev *abbrev, struct step step)
{
	struct step *last = abbrev->step_count ? &table->steps.items[table->steps.count - 1] : NULL;
	if (step.kind == STEP_FIXED) {
		if (step.size == 0)
			return true;
		if (last && last->kind == STEP_FIXED) {
			last->size += step.size;
			return true;
		}
	}
	struct step *added = array_add(&table->steps);
	if (!added)
		return false;
	*added = step;
	abbrev->step_count++;
	return true;
}

static bool add_attribute(struct abbrev_table *table, struct abbrev *abbrev,
			  struct encoding encoding, struct abbrev_attribute attribute)
{
	struct abbrev_attribute *added = array_add(&table->attributes);
	if (!added)
		return false;
	*added = attribute;
	abbrev->attribute_count++;
	struct step step = step_of_form(attribute.form, encoding);
	if (attribute.name == DW_AT_sibling && is_unit_reference(attribute.form)) {
		step = (struct step){ .kind = STEP_SIBLING, .size = step.size };
		abbrev->has_sibling = true;
	}
	return add_step(table, abbrev, step);
}

// Reads the attributes up to the pair of zeros. Steps of one abbreviation lie together, so that
// the index of the first is known before it is added.
static struct imp_error *read_abbrev(struct cursor *cursor, struct encoding encoding, uint64_t code,
				     struct abbrev_table *table)
{
	struct abbrev abbrev = { .code = code,
				 .first_attribute = (uint32_t)table->attributes.count,
				 .first_step = (uint32_t)table->steps.count };
	uint64_t tag = cursor_uleb(cursor);
	abbrev.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	abbrev.has_children = cursor_u8(cursor) != 0;
	for (;;) {
		uint64_t name = cursor_uleb(cursor);
		uint64_t form = cursor_uleb(cursor);
		if (cursor->failed)
			return cursor_error(cursor, "abbreviation");
		if (name == 0 && form == 0)
			break;
		struct abbrev_attribute attribute = {
			.name = name > UINT16_MAX ? 0 : (uint16_t)name,
			.form = form > UINT16_MAX ? UINT16_MAX : (uint16_t)form,
		};
		if (form == DW_FORM_implicit_const)
			attribute.implicit_value = cursor_sleb(cursor);
		if (!add_attribute(table, &abbrev, encoding, attribute))
			return &imp_error_no_memory;
	}
	struct abbrev *added = array_add(&table->abbrevs);
	if (!added)
		return &imp_error_no_memory;
	*added = abbrev;
	return NULL;
}

static int compare_abbrevs(const void *left, const void *right)
{
	const struct abbrev *a = left, *b = right;
	return a->code < b->code ? -1 : a->code > b->code;
}

// With LAST_CODE other than 0 ends at the abbreviation of that code.
static struct imp_error *read_table(struct cursor *cursor, struct encoding encoding,
				    uint64_t last_code, struct abbrev_table *table)
{
	uint64_t previous = 0;
	bool is_sorted = true;
	for (;;) {
		uint64_t code = cursor_uleb(cursor);
		if (cursor->failed)
			return cursor_error(cursor, "abbreviation table");
		if (code == 0)
			break;
		struct imp_error *err = read_abbrev(cursor, encoding, code, table);
		if (err)
			return err;
		is_sorted &= code > previous;
		previous = code;
		if (code == last_code)
			break;
	}
	if (!is_sorted)
		qsort(table->abbrevs.items, table->abbrevs.count, sizeof *table->abbrevs.items,
		      compare_abbrevs);
	return NULL;
}

struct imp_error *abbrev_table_read_one(struct cursor *cursor, struct encoding encoding,
					uint64_t code, struct abbrev_table *ret)
{
	struct abbrev_table table = { 0 };
	struct imp_error *err = read_table(cursor, encoding, code, &table);
	if (err)
		abbrev_table_fini(&table);
	else
		*ret = table;
	return err;
}

struct imp_error *abbrev_table_read(struct cursor *cursor, struct encoding encoding,
				    struct abbrev_table *ret)
{
	return abbrev_table_read_one(cursor, encoding, 0, ret);
}

void abbrev_table_fini(struct abbrev_table *table)
{
	array_fini(&table->abbrevs);
	array_fini(&table->attributes);
	array_fini(&table->steps);
}

const struct abbrev *abbrev_find_slowly(const struct abbrev_table *table, uint64_t code)
{
	struct abbrev key = { .code = code };
	if (!table->abbrevs.count)
		return NULL;
	return bsearch(&key, table->abbrevs.items, table->abbrevs.count,
		       sizeof *table->abbrevs.items, compare_abbrevs);
}

// Forms may name a form again, each time at the cost of a byte.
static struct step indirect_step(struct cursor *entry, struct encoding encoding)
{
	struct step step = { .kind = STEP_INDIRECT };
	while (step.kind == STEP_INDIRECT && !entry->failed)
		step = step_of_form(cursor_uleb(entry), encoding);
	return step;
}

static void take_step(struct cursor *entry, struct step step, uint64_t *sibling)
{
	switch (step.kind) {
	case STEP_FIXED:
		cursor_skip(entry, step.size);
		break;
	case STEP_LEB:
		cursor_uleb(entry);
		break;
	case STEP_STRING:
		cursor_string(entry);
		break;
	case STEP_BLOCK: {
		uint64_t size = step.size ? cursor_sized(entry, step.size) : cursor_uleb(entry);
		cursor_skip(entry, size);
		break;
	}
	case STEP_SIBLING:
		*sibling = step.size ? cursor_sized(entry, step.size) : cursor_uleb(entry);
		break;
	case STEP_INDIRECT:
	case STEP_UNKNOWN:
		entry->failed = true;
		break;
	}
}

void abbrev_step_over(const struct abbrev_table *table, const struct abbrev *abbrev,
		      struct encoding encoding, struct cursor *entry, uint64_t *sibling)
{
	const struct step *step = table->steps.items + abbrev->first_step;
	const struct step *end = step + abbrev->step_count;
	for (; step < end; step++) {
		if (step->kind == STEP_FIXED)
			cursor_skip(entry, step->size);
		else
			take_step(entry,
				  step->kind == STEP_INDIRECT ? indirect_step(entry, encoding)
							      : *step,
				  sibling);
	}
}
