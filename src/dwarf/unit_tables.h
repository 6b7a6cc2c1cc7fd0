// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One unit's answers, as sorted arrays: which function or inlined call an address is in, and which
// source line.
//
// The arrays are built from DWARF on first use, or lie in a saved index.
#ifndef DWARF_UNIT_TABLES_H
#define DWARF_UNIT_TABLES_H

#include "base/array.h"
#include "dwarf/debug_file.h"

#define NO_SCOPE UINT32_MAX
#define NO_NAME UINT32_MAX
// The file of a row that ends a sequence: no line is known from there on.
#define NO_FILE ((uint32_t)0xfffff)

// A function, or a call that was inlined into its parent.
struct scope {
	// Always below the scope's own index, or NO_SCOPE.
	uint32_t parent;
	// An index of names, or NO_NAME.
	uint32_t name;
	// Where the inlined call stands. call_file is an index of files, or NO_FILE.
	uint32_t call_file, call_line, call_column;
};

struct line_row {
	uint32_t line;
	// The index in files in the upper 20 bits, the column (at most 4095) in the lower 12.
	uint32_t place;
};

// Addresses are relative to `base`. From owner_starts[i] on, scope owners[i] (or NO_SCOPE) is the
// innermost; from row_starts[i] on, rows[i] is the line.
struct unit_tables {
	uint64_t base;
	uint32_t *owner_starts, *owners;
	struct scope *scopes;
	uint32_t *row_starts;
	struct line_row *rows;
	// Lent by the debug file's sections and the path pool.
	const char **names, **files;
	// Or, of tables in a saved index, each one's place in its strings, which end with a NUL.
	const uint32_t *name_places, *file_places;
	const char *strings;
	uint64_t strings_size;
	uint32_t owner_count, scope_count, row_count, name_count, file_count;
	// All arrays lie in a saved index.
	bool is_mapped;
};

// Paths of source files, each kept once for all units.
struct path_pool;
struct path_pool *path_pool_new(void);
void path_pool_free(struct path_pool *pool);
// PATH, kept until path_pool_free(); NULL when memory ran out. Safe from many threads.
const char *path_pool_keep(struct path_pool *pool, const char *path, size_t length);

// Reads the scopes and lines of UNIT. BASE is its lowest address, UINT64_MAX when it
// has none; what lies 4 GiB and more above is
// left out. Damage costs what cannot be read, and is no error.
struct imp_error *unit_tables_build(const struct debug_file *file, const struct unit *unit,
				    uint64_t base, struct path_pool *pool,
				    struct unit_tables **ret) MUST_CHECK;
void unit_tables_free(struct unit_tables *tables);

static inline const char *unit_tables_string(const struct unit_tables *tables, uint32_t place)
{
	return place < tables->strings_size ? tables->strings + place : NULL;
}

// The name of INDEX, lent as above; NULL where there is none.
static inline const char *unit_tables_name(const struct unit_tables *tables, uint32_t index)
{
	if (index >= tables->name_count)
		return NULL;
	return tables->is_mapped ? unit_tables_string(tables, tables->name_places[index])
				 : tables->names[index];
}

// The path of file INDEX.
static inline const char *unit_tables_file(const struct unit_tables *tables, uint32_t index)
{
	if (index >= tables->file_count)
		return NULL;
	return tables->is_mapped ? unit_tables_string(tables, tables->file_places[index])
				 : tables->files[index];
}

// The index of the last of COUNT sorted STARTS at or below VALUE, or UINT32_MAX.
static inline uint32_t last_at_or_below(const uint32_t *starts, uint32_t count, uint32_t value)
{
	uint32_t low = 0;
	while (count) {
		uint32_t half = count / 2;
		if (starts[low + half] <= value) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low - 1;
}

#endif
