// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading attribute values by their forms (DWARF 5, section 7.5.6) and what they mean in their
// unit.
#include <dwarf.h>

#include "dwarf/debug_file.h"

static struct value number(enum value_class class, uint64_t value)
{
	return (struct value){ .class = class, .number = value };
}

static struct value text(const char *string)
{
	return string ? (struct value){ .class = VALUE_STRING, .text = string }
		      : (struct value){ .class = VALUE_OTHER };
}

static struct value string_at(const struct debug_file *file, enum debug_section section,
			      uint64_t offset)
{
	return text(file ? debug_section_string(&file->sections, section, offset) : NULL);
}

static struct value unit_reference(const struct unit *unit, uint64_t offset)
{
	return number(VALUE_REFERENCE, unit->offset + offset);
}

static struct value read_block(struct cursor *cursor, uint64_t size)
{
	cursor_skip(cursor, size);
	return number(VALUE_OTHER, 0);
}

static struct value read_string_form(const struct debug_file *file, const struct unit *unit,
				     struct cursor *cursor, uint64_t form)
{
	unsigned offset_size = unit->encoding.offset_size;
	switch (form) {
	case DW_FORM_string:
		return text(cursor_string(cursor));
	case DW_FORM_strp:
		return string_at(file, DEBUG_STR, cursor_sized(cursor, offset_size));
	case DW_FORM_line_strp:
		return string_at(file, DEBUG_LINE_STR, cursor_sized(cursor, offset_size));
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return string_at(file->alt, DEBUG_STR, cursor_sized(cursor, offset_size));
	case DW_FORM_strx1:
		return number(VALUE_STRING_INDEX, cursor_u8(cursor));
	case DW_FORM_strx2:
		return number(VALUE_STRING_INDEX, cursor_u16(cursor));
	case DW_FORM_strx3:
		return number(VALUE_STRING_INDEX, cursor_u24(cursor));
	case DW_FORM_strx4:
		return number(VALUE_STRING_INDEX, cursor_u32(cursor));
	default:
		return number(VALUE_STRING_INDEX, cursor_uleb(cursor));
	}
}

static struct value read_address_form(const struct unit *unit, struct cursor *cursor, uint64_t form)
{
	switch (form) {
	case DW_FORM_addr:
		return number(VALUE_ADDRESS, cursor_sized(cursor, unit->encoding.address_size));
	case DW_FORM_addrx1:
		return number(VALUE_ADDRESS_INDEX, cursor_u8(cursor));
	case DW_FORM_addrx2:
		return number(VALUE_ADDRESS_INDEX, cursor_u16(cursor));
	case DW_FORM_addrx3:
		return number(VALUE_ADDRESS_INDEX, cursor_u24(cursor));
	case DW_FORM_addrx4:
		return number(VALUE_ADDRESS_INDEX, cursor_u32(cursor));
	default:
		return number(VALUE_ADDRESS_INDEX, cursor_uleb(cursor));
	}
}

static struct value read_reference_form(const struct unit *unit, struct cursor *cursor,
					uint64_t form)
{
	unsigned offset_size = unit->encoding.offset_size;
	switch (form) {
	case DW_FORM_ref1:
		return unit_reference(unit, cursor_u8(cursor));
	case DW_FORM_ref2:
		return unit_reference(unit, cursor_u16(cursor));
	case DW_FORM_ref4:
		return unit_reference(unit, cursor_u32(cursor));
	case DW_FORM_ref8:
		return unit_reference(unit, cursor_u64(cursor));
	case DW_FORM_ref_udata:
		return unit_reference(unit, cursor_uleb(cursor));
	case DW_FORM_ref_addr:
		return number(VALUE_REFERENCE,
			      cursor_sized(cursor, unit->encoding.version <= 2
							   ? unit->encoding.address_size
							   : offset_size));
	case DW_FORM_GNU_ref_alt:
		return number(VALUE_ALT_REFERENCE, cursor_sized(cursor, offset_size));
	case DW_FORM_ref_sup4:
		return number(VALUE_ALT_REFERENCE, cursor_u32(cursor));
	default:
		return number(VALUE_ALT_REFERENCE, cursor_u64(cursor));
	}
}

static struct value read_constant_form(const struct unit *unit, struct cursor *cursor,
				       uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
		return number(VALUE_CONSTANT, 1);
	case DW_FORM_data1:
	case DW_FORM_flag:
		return number(VALUE_CONSTANT, cursor_u8(cursor));
	case DW_FORM_data2:
		return number(VALUE_CONSTANT, cursor_u16(cursor));
	case DW_FORM_data4:
		return number(VALUE_CONSTANT, cursor_u32(cursor));
	case DW_FORM_data8:
		return number(VALUE_CONSTANT, cursor_u64(cursor));
	case DW_FORM_sdata:
		return number(VALUE_CONSTANT, (uint64_t)cursor_sleb(cursor));
	case DW_FORM_udata:
		return number(VALUE_CONSTANT, cursor_uleb(cursor));
	case DW_FORM_sec_offset:
		return number(VALUE_OFFSET, cursor_sized(cursor, unit->encoding.offset_size));
	default:
		return number(VALUE_RANGES_INDEX, cursor_uleb(cursor));
	}
}

static struct value read_other_form(struct cursor *cursor, const struct unit *unit, uint64_t form)
{
	struct step step = step_of_form(form, unit->encoding);
	if (step.kind == STEP_BLOCK)
		return read_block(cursor, step.size ? cursor_sized(cursor, step.size)
						    : cursor_uleb(cursor));
	if (step.kind == STEP_FIXED)
		return read_block(cursor, step.size);
	if (step.kind == STEP_LEB)
		cursor_uleb(cursor);
	else
		cursor->failed = true;
	return number(VALUE_OTHER, 0);
}

struct value value_read(const struct debug_file *file, const struct unit *unit,
			struct cursor *cursor, const struct abbrev_attribute *attribute)
{
	uint64_t form = attribute->form;
	while (form == DW_FORM_indirect && !cursor->failed)
		form = cursor_uleb(cursor);
	switch (form) {
	case DW_FORM_implicit_const:
		return number(VALUE_CONSTANT, (uint64_t)attribute->implicit_value);
	case DW_FORM_string:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return read_string_form(file, unit, cursor, form);
	case DW_FORM_addr:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return read_address_form(unit, cursor, form);
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
	case DW_FORM_ref_addr:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return read_reference_form(unit, cursor, form);
	case DW_FORM_flag_present:
	case DW_FORM_flag:
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_sec_offset:
	case DW_FORM_rnglistx:
		return read_constant_form(unit, cursor, form);
	default:
		return read_other_form(cursor, unit, form);
	}
}

const char *value_text(const struct debug_file *file, const struct unit *unit,
		       const struct value *value)
{
	if (value->class == VALUE_STRING)
		return value->text;
	unsigned size = unit->encoding.offset_size;
	if (value->class != VALUE_STRING_INDEX || value->number > UINT32_MAX)
		return NULL;
	struct cursor at = debug_section_from(&file->sections, DEBUG_STR_OFFSETS,
					      unit->str_offsets_base + value->number * size);
	uint64_t offset = cursor_sized(&at, size);
	return at.failed ? NULL : debug_section_string(&file->sections, DEBUG_STR, offset);
}

bool unit_address_at(const struct debug_file *file, const struct unit *unit, uint64_t index,
		     uint64_t *ret)
{
	unsigned size = unit->encoding.address_size;
	if (index > UINT32_MAX)
		return false;
	struct cursor at =
		debug_section_from(&file->sections, DEBUG_ADDR, unit->addr_base + index * size);
	uint64_t address = cursor_sized(&at, size);
	if (!at.failed)
		*ret = address;
	return !at.failed;
}

bool value_address(const struct debug_file *file, const struct unit *unit,
		   const struct value *value, uint64_t *ret)
{
	if (value->class == VALUE_ADDRESS_INDEX)
		return unit_address_at(file, unit, value->number, ret);
	if (value->class == VALUE_ADDRESS)
		*ret = value->number;
	return value->class == VALUE_ADDRESS;
}
