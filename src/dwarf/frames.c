// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A scope and those around it, each with the place of its code.
#include "dwarf/frames.h"

// Where a frame's code stands: the row at the address for the innermost, the call for the others.
struct place {
	uint32_t file, line, column;
};

static struct place row_place(const struct unit_tables *tables, uint32_t relative)
{
	uint32_t index = last_at_or_below(tables->row_starts, tables->row_count, relative);
	if (index == UINT32_MAX)
		return (struct place){ .file = NO_FILE };
	const struct line_row *row = &tables->rows[index];
	return (struct place){ row->place >> 12, row->line, row->place & 4095 };
}

static void fill_frame(const struct unit_tables *tables, const struct place *place,
		       struct dwarf_frame *frame)
{
	frame->file = unit_tables_file(tables, place->file);
	frame->line = place->line;
	frame->column = place->column;
}

void frames_of_tables(const struct unit_tables *tables, uint32_t relative,
		      struct dwarf_frame *frames, uint32_t *count)
{
	struct place place = row_place(tables, relative);
	uint32_t index = last_at_or_below(tables->owner_starts, tables->owner_count, relative);
	uint32_t scope = index == UINT32_MAX ? NO_SCOPE : tables->owners[index];
	*count = 0;
	if (scope == NO_SCOPE) {
		frames[0] = (struct dwarf_frame){ 0 };
		fill_frame(tables, &place, &frames[0]);
		*count = frames[0].file ? 1 : 0;
		return;
	}
	// A saved index may be damaged: parents come before their scopes, or the chain ends.
	for (uint32_t limit = tables->scope_count; scope < limit && *count < DWARF_MOST_FRAMES;) {
		const struct scope *current = &tables->scopes[scope];
		struct dwarf_frame *frame = &frames[(*count)++];
		*frame = (struct dwarf_frame){ .name = unit_tables_name(tables, current->name),
					       .is_inlined = current->parent != NO_SCOPE };
		fill_frame(tables, &place, frame);
		place = (struct place){ current->call_file, current->call_line,
					current->call_column };
		limit = scope;
		scope = current->parent;
	}
}
