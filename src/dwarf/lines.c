// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Running line number programs of DWARF 2 to 5 (DWARF 5, section 6.2).
#include "dwarf/lines.h"

#include <dwarf.h>

struct program {
	const struct debug_file *file;
	// The unit, with the encoding of its line table.
	struct unit unit;
	struct line_table *table;
	struct cursor code;
	uint8_t minimum_length, operations, line_range, opcode_base;
	int8_t line_base;
	uint8_t operand_counts[256];
	// The registers of the state machine that matter here.
	struct raw_row row;
	uint64_t operation;
	// Where the rows of the sequence being read begin.
	size_t sequence_start;
	bool is_out_of_memory;
};

// One sequence's rows, and the addresses that it covers.
struct sequence {
	uint64_t begin, end;
	uint32_t first, count;
};

struct sequences {
	ARRAY_OF(struct sequence) list;
};

static bool add_directory(struct line_table *table, const char *name)
{
	const char **added = array_add(&table->directories);
	if (added)
		*added = name;
	return added;
}

static bool add_file(struct line_table *table, const char *name, uint64_t directory)
{
	struct line_file *added = array_add(&table->files);
	if (added)
		*added = (struct line_file){ .name = name, .directory = directory };
	return added;
}

static bool read_file_entry(struct program *program, struct cursor *header, bool *is_end)
{
	const char *name = cursor_string(header);
	*is_end = !name || !*name;
	if (*is_end)
		return true;
	uint64_t directory = cursor_uleb(header);
	cursor_uleb(header);
	cursor_uleb(header);
	return header->failed || add_file(program->table, name, directory);
}

// Before DWARF 5: directory 0 is the unit's, and files count from 1.
static bool read_old_names(struct program *program, struct cursor *header)
{
	struct line_table *table = program->table;
	const char *directory = program->unit.directory;
	if (!add_directory(table, directory ? directory : "") ||
	    !add_file(table, program->unit.name, 0))
		return false;
	for (;;) {
		const char *name = cursor_string(header);
		if (!name || !*name)
			break;
		if (!add_directory(table, name))
			return false;
	}
	bool is_end = false;
	while (!is_end)
		if (!read_file_entry(program, header, &is_end))
			return false;
	return true;
}

struct entry_format {
	uint64_t content, form;
};

// One entry of a DWARF 5 table; it must take at least a byte, so that their count is bounded.
static bool read_new_entry(struct program *program, struct cursor *header,
			   const struct entry_format *formats, uint8_t format_count,
			   struct line_file *ret)
{
	size_t start = header->at;
	*ret = (struct line_file){ 0 };
	for (uint8_t i = 0; i < format_count && !header->failed; i++) {
		struct abbrev_attribute attribute = { .form = (uint16_t)formats[i].form };
		struct value value = value_read(program->file, &program->unit, header, &attribute);
		if (formats[i].content == DW_LNCT_path)
			ret->name = value_text(program->file, &program->unit, &value);
		else if (formats[i].content == DW_LNCT_directory_index)
			ret->directory = value.number;
	}
	return !header->failed && header->at > start;
}

static bool read_new_table(struct program *program, struct cursor *header, bool is_directories)
{
	struct entry_format formats[256];
	uint8_t format_count = cursor_u8(header);
	for (uint8_t i = 0; i < format_count; i++) {
		formats[i].content = cursor_uleb(header);
		formats[i].form = cursor_uleb(header);
	}
	uint64_t count = cursor_uleb(header);
	for (uint64_t i = 0; i < count && !header->failed; i++) {
		struct line_file entry;
		if (!read_new_entry(program, header, formats, format_count, &entry)) {
			header->failed = true;
			break;
		}
		if (is_directories ? !add_directory(program->table, entry.name)
				   : !add_file(program->table, entry.name, entry.directory))
			return false;
	}
	return true;
}

static void read_parameters(struct program *program, struct cursor *header)
{
	program->minimum_length = cursor_u8(header);
	program->operations = program->table->version >= 4 ? cursor_u8(header) : 1;
	if (program->operations == 0)
		program->operations = 1;
	cursor_u8(header);
	program->line_base = (int8_t)cursor_u8(header);
	program->line_range = cursor_u8(header);
	program->opcode_base = cursor_u8(header);
	for (unsigned i = 1; i < program->opcode_base; i++)
		program->operand_counts[i] = cursor_u8(header);
}

// Reads up to the program. *is_readable is false when there is nothing to run.
static bool read_header(struct program *program, struct cursor *section, bool *is_readable)
{
	struct encoding *encoding = &program->unit.encoding;
	*is_readable = false;
	uint64_t length = cursor_unit_length(section, &encoding->offset_size);
	struct cursor header = cursor_part(section, (size_t)length);
	encoding->version = program->table->version = cursor_u16(&header);
	if (header.failed || encoding->version < 2 || encoding->version > 5)
		return true;
	if (encoding->version >= 5) {
		encoding->address_size = cursor_u8(&header);
		cursor_u8(&header);
	}
	uint64_t names_size = cursor_sized(&header, encoding->offset_size);
	struct cursor names = cursor_part(&header, (size_t)names_size);
	program->code = header;
	read_parameters(program, &names);
	if (names.failed || header.failed || program->line_range == 0)
		return true;
	*is_readable = true;
	return encoding->version >= 5 ? read_new_table(program, &names, true) &&
						read_new_table(program, &names, false)
				      : read_old_names(program, &names);
}

static void reset(struct program *program)
{
	program->row = (struct raw_row){ .file = 1, .line = 1 };
	program->operation = 0;
}

static void emit(struct program *program, bool is_end)
{
	struct line_table *table = program->table;
	struct raw_row *last = table->rows.count > program->sequence_start
				       ? &table->rows.items[table->rows.count - 1]
				       : NULL;
	// Of several rows at one address the last counts.
	if (!last || last->address != program->row.address)
		last = array_add(&table->rows);
	if (!last) {
		program->is_out_of_memory = true;
		return;
	}
	*last = program->row;
	if (is_end)
		last->file = NO_RAW_FILE;
}

static int compare_rows(const void *left, const void *right)
{
	const struct raw_row *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	// The end of the sequence is after all.
	return (a->file == NO_RAW_FILE) - (b->file == NO_RAW_FILE);
}

static bool is_ascending(const struct raw_row *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (rows[i].address < rows[i - 1].address)
			return false;
	return true;
}

static void end_sequence(struct program *program, struct sequences *sequences)
{
	emit(program, true);
	if (program->is_out_of_memory)
		return;
	struct line_table *table = program->table;
	size_t first = program->sequence_start, count = table->rows.count - first;
	struct raw_row *rows = table->rows.items + first;
	if (!is_ascending(rows, count))
		qsort(rows, count, sizeof *rows, compare_rows);
	uint64_t begin = rows[0].address, end = rows[count - 1].address;
	program->sequence_start = table->rows.count;
	if (begin >= end || begin < program->file->code_start || end > program->file->code_end ||
	    table->rows.count > UINT32_MAX) {
		// Code that the linker dropped.
		program->sequence_start = table->rows.count = first;
		return;
	}
	struct sequence *added = array_add(&sequences->list);
	if (added)
		*added = (struct sequence){ begin, end, (uint32_t)first, (uint32_t)count };
	else
		program->is_out_of_memory = true;
}

static void advance(struct program *program, uint64_t operations)
{
	if (program->operations == 1) {
		program->row.address += operations * program->minimum_length;
		return;
	}
	uint64_t total = program->operation + operations;
	program->row.address += total / program->operations * program->minimum_length;
	program->operation = total % program->operations;
}

static void run_extended(struct program *program, struct sequences *sequences)
{
	struct cursor *code = &program->code;
	uint64_t size = cursor_uleb(code);
	struct cursor operands = cursor_part(code, (size_t)size);
	if (operands.failed || size == 0)
		return;
	switch (cursor_u8(&operands)) {
	case DW_LNE_end_sequence:
		end_sequence(program, sequences);
		reset(program);
		break;
	case DW_LNE_set_address:
		program->row.address = cursor_sized(&operands, (unsigned)(size - 1));
		program->operation = 0;
		code->failed = operands.failed;
		break;
	case DW_LNE_define_file: {
		bool is_end;
		if (!read_file_entry(program, &operands, &is_end))
			program->is_out_of_memory = true;
		break;
	}
	default:
		break;
	}
}

static void run_standard(struct program *program, uint8_t opcode, struct sequences *sequences)
{
	struct cursor *code = &program->code;
	struct raw_row *row = &program->row;
	switch (opcode) {
	case 0:
		run_extended(program, sequences);
		break;
	case DW_LNS_copy:
		emit(program, false);
		break;
	case DW_LNS_advance_pc:
		advance(program, cursor_uleb(code));
		break;
	case DW_LNS_advance_line:
		row->line += (uint32_t)cursor_sleb(code);
		break;
	case DW_LNS_set_file:
		row->file = (uint32_t)cursor_uleb(code);
		break;
	case DW_LNS_set_column:
		row->column = (uint32_t)cursor_uleb(code);
		break;
	case DW_LNS_const_add_pc:
		advance(program, (255U - program->opcode_base) / program->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		row->address += cursor_u16(code);
		program->operation = 0;
		break;
	default:
		// What does not concern lines, or a later version's: its operands are told.
		for (uint8_t i = 0; i < program->operand_counts[opcode]; i++)
			cursor_uleb(code);
		break;
	}
}

static void run(struct program *program, struct sequences *sequences)
{
	reset(program);
	while (cursor_left(&program->code) && !program->code.failed && !program->is_out_of_memory) {
		uint8_t opcode = cursor_u8(&program->code);
		if (opcode < program->opcode_base) {
			run_standard(program, opcode, sequences);
			continue;
		}
		unsigned adjusted = (unsigned)opcode - program->opcode_base;
		advance(program, adjusted / program->line_range);
		program->row.line +=
			(uint32_t)(program->line_base + (int)(adjusted % program->line_range));
		emit(program, false);
	}
	// A sequence without an end covers nothing that is known.
	program->table->rows.count = program->sequence_start;
}

static int compare_sequences(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

// Appends the part of a sequence that lies at COVERED and above.
static bool append_sequence(struct line_table *ret, const struct raw_row *rows,
			    const struct sequence *sequence, uint64_t covered)
{
	for (uint32_t i = 0; i < sequence->count; i++) {
		struct raw_row row = rows[sequence->first + i];
		bool is_last = i + 1 == sequence->count;
		if (!is_last && rows[sequence->first + i + 1].address <= covered)
			continue;
		if (row.address < covered)
			row.address = covered;
		struct raw_row *last = ret->rows.count ? &ret->rows.items[ret->rows.count - 1]
						       : NULL;
		// The end of the sequence before stands where this one begins.
		if (!last || last->address != row.address)
			last = array_add(&ret->rows);
		if (!last)
			return false;
		*last = row;
	}
	return true;
}

static bool is_in_order(const struct sequences *sequences)
{
	for (size_t i = 1; i < sequences->list.count; i++)
		if (sequences->list.items[i].begin < sequences->list.items[i - 1].end)
			return false;
	return true;
}

// Brings the rows into the order of addresses; where sequences overlap, the first keeps its part.
static bool sort_rows(struct line_table *table, struct sequences *sequences)
{
	if (is_in_order(sequences))
		return true;
	qsort(sequences->list.items, sequences->list.count, sizeof *sequences->list.items,
	      compare_sequences);
	struct line_table sorted = { 0 };
	uint64_t covered = 0;
	bool is_done = true;
	for (size_t i = 0; i < sequences->list.count && is_done; i++) {
		const struct sequence *sequence = &sequences->list.items[i];
		if (sequence->end <= covered)
			continue;
		is_done = append_sequence(&sorted, table->rows.items, sequence, covered);
		covered = sequence->end;
	}
	array_fini(&table->rows);
	table->rows.items = sorted.rows.items;
	table->rows.count = sorted.rows.count;
	table->rows.room = sorted.rows.room;
	return is_done;
}

struct imp_error *line_table_read(const struct debug_file *file, const struct unit *unit,
				  struct line_table *ret)
{
	struct program program = { .file = file, .unit = *unit, .table = ret };
	struct cursor section = debug_section_from(&file->sections, DEBUG_LINE, unit->line_offset);
	struct sequences sequences = { 0 };
	if (section.failed)
		return NULL;
	bool is_readable;
	bool is_done = read_header(&program, &section, &is_readable);
	if (is_done && is_readable) {
		run(&program, &sequences);
		is_done = !program.is_out_of_memory && sort_rows(ret, &sequences);
	}
	array_fini(&sequences.list);
	return is_done ? NULL : &imp_error_no_memory;
}

void line_table_fini(struct line_table *table)
{
	array_fini(&table->directories);
	array_fini(&table->files);
	array_fini(&table->rows);
}

static void append_component(struct buffer *path, const char *component)
{
	if (path->size && path->bytes[path->size - 1] != '/')
		buffer_append(path, "/", 1);
	buffer_text(path, component);
}

bool line_table_path(const struct line_table *table, const struct unit *unit, uint32_t number,
		     struct buffer *path)
{
	const struct line_file *file = number < table->files.count ? &table->files.items[number]
								   : NULL;
	// Before DWARF 5, 0 says that no file is meant.
	if (!file || !file->name || (number == 0 && table->version < 5))
		return false;
	const char *directory = file->directory < table->directories.count
					? table->directories.items[file->directory]
					: NULL;
	if (file->name[0] != '/') {
		bool is_relative = !directory || directory[0] != '/';
		// Directory 0 is the unit's own, relative where the compiler was told so.
		bool is_own = file->directory == 0;
		if (is_relative && !is_own && unit->directory)
			append_component(path, unit->directory);
		if (directory && *directory)
			append_component(path, directory);
	}
	append_component(path, file->name);
	return true;
}
