// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A unit's line table: its program run once, the rows sorted by address.
#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "base/buffer.h"
#include "dwarf/debug_file.h"

struct line_file {
	// Lent by the sections.
	const char *name;
	// An index of directories.
	uint64_t directory;
};

// The last row at or below an address tells its line.
struct raw_row {
	uint64_t address;
	// As the table numbers files; NO_RAW_FILE where a sequence ends.
	uint32_t file;
	uint32_t line, column;
};

#define NO_RAW_FILE UINT32_MAX

struct line_table {
	ARRAY_OF(const char *) directories;
	ARRAY_OF(struct line_file) files;
	ARRAY_OF(struct raw_row) rows;
	uint16_t version;
};

// Runs the line program of UNIT. Damage ends the program; the sequences before it are kept. A unit
// without a table has an empty one.
struct imp_error *line_table_read(const struct debug_file *file, const struct unit *unit,
				  struct line_table *ret) MUST_CHECK;
void line_table_fini(struct line_table *table);

// Appends the path of file NUMBER (as rows and DW_AT_call_file number them) to PATH: absolute where
// the table, or UNIT's directory, allows. False when there is no such file.
bool line_table_path(const struct line_table *table, const struct unit *unit, uint32_t number,
		     struct buffer *path);

#endif
