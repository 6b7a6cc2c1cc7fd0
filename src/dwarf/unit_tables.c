// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From a unit's scopes and line table to its arrays.
#include "dwarf/unit_tables.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/strings.h"
#include "dwarf/lines.h"
#include "dwarf/scopes.h"
#include "dwarf/split.h"

struct path_pool {
	pthread_mutex_t lock;
	struct strings paths;
};

struct path_pool *path_pool_new(void)
{
	struct path_pool *pool = calloc(1, sizeof *pool);
	if (pool)
		pthread_mutex_init(&pool->lock, NULL);
	return pool;
}

void path_pool_free(struct path_pool *pool)
{
	if (!pool)
		return;
	strings_fini(&pool->paths);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

const char *path_pool_keep(struct path_pool *pool, const char *path, size_t length)
{
	const char *kept = NULL;
	uint32_t number;
	pthread_mutex_lock(&pool->lock);
	struct imp_error *err = strings_intern(&pool->paths, path, length, &number);
	if (!err)
		kept = strings_at(&pool->paths, number);
	pthread_mutex_unlock(&pool->lock);
	imp_error_free(err);
	return kept;
}

struct building {
	const struct unit *unit;
	uint64_t base;
	struct path_pool *pool;
	struct line_table lines;
	struct scope_tree tree;
	struct boundaries boundaries;
	// For each file of the line table its index in the unit's files + 1, or 0.
	uint32_t *file_indexes;
	ARRAY_OF(const char *) files;
	struct buffer path;
};

static bool is_near(uint64_t base, uint64_t address)
{
	return address >= base && address - base <= UINT32_MAX;
}

// The index that file NUMBER of the line table has in the unit's files, or NO_FILE. Only files that
// something refers to are kept.
static bool file_index(struct building *building, uint32_t number, uint32_t *ret)
{
	*ret = NO_FILE;
	if (number >= building->lines.files.count || building->files.count >= NO_FILE)
		return true;
	if (!building->file_indexes[number]) {
		building->path.size = 0;
		if (!line_table_path(&building->lines, building->unit, number, &building->path))
			return true;
		const char *path = building->path.failed
					   ? NULL
					   : path_pool_keep(building->pool,
							    (const char *)building->path.bytes,
							    building->path.size);
		const char **added = path ? array_add(&building->files) : NULL;
		if (!added)
			return false;
		*added = path;
		building->file_indexes[number] = (uint32_t)building->files.count;
	}
	*ret = building->file_indexes[number] - 1;
	return true;
}

static bool fill_scopes(struct building *building, struct unit_tables *tables)
{
	for (size_t i = 0; i < building->tree.scopes.count; i++) {
		struct scope *scope = &building->tree.scopes.items[i];
		if (!file_index(building, scope->call_file, &scope->call_file))
			return false;
	}
	tables->scope_count = (uint32_t)building->tree.scopes.count;
	tables->scopes = building->tree.scopes.items;
	building->tree.scopes.items = NULL;
	tables->name_count = (uint32_t)building->tree.names.count;
	tables->names = building->tree.names.items;
	building->tree.names.items = NULL;
	return true;
}

static bool fill_owners(struct building *building, struct unit_tables *tables)
{
	size_t count = building->boundaries.list.count;
	tables->owner_starts = malloc((count + 1) * sizeof *tables->owner_starts);
	tables->owners = malloc((count + 1) * sizeof *tables->owners);
	if (!tables->owner_starts || !tables->owners)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct boundary *boundary = &building->boundaries.list.items[i];
		if (!is_near(building->base, boundary->begin))
			continue;
		tables->owner_starts[tables->owner_count] =
			(uint32_t)(boundary->begin - building->base);
		tables->owners[tables->owner_count++] = boundary->owner;
	}
	return true;
}

static bool fill_row(struct building *building, const struct raw_row *raw, struct line_row *row)
{
	uint32_t file = NO_FILE;
	bool is_end = raw->file == NO_RAW_FILE;
	if (!is_end && !file_index(building, raw->file, &file))
		return false;
	uint32_t column = raw->column < 4096 ? raw->column : 0;
	row->line = is_end ? 0 : raw->line;
	row->place = file << 12 | (is_end ? 0 : column);
	return true;
}

static bool fill_rows(struct building *building, struct unit_tables *tables)
{
	size_t count = building->lines.rows.count;
	tables->row_starts = malloc((count + 1) * sizeof *tables->row_starts);
	tables->rows = malloc((count + 1) * sizeof *tables->rows);
	if (!tables->row_starts || !tables->rows)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct raw_row *raw = &building->lines.rows.items[i];
		struct line_row row;
		if (!is_near(building->base, raw->address))
			continue;
		if (!fill_row(building, raw, &row))
			return false;
		const struct line_row *last =
			tables->row_count ? &tables->rows[tables->row_count - 1] : NULL;
		if (last && last->line == row.line && last->place == row.place)
			continue;
		tables->row_starts[tables->row_count] = (uint32_t)(raw->address - building->base);
		tables->rows[tables->row_count++] = row;
	}
	return true;
}

static void *shrunk(void *memory, size_t count, size_t size)
{
	void *smaller = memory ? realloc(memory, (count ? count : 1) * size) : NULL;
	return smaller ? smaller : memory;
}

static void shrink(struct unit_tables *tables)
{
	tables->owner_starts =
		shrunk(tables->owner_starts, tables->owner_count, sizeof *tables->owner_starts);
	tables->owners = shrunk(tables->owners, tables->owner_count, sizeof *tables->owners);
	tables->scopes = shrunk(tables->scopes, tables->scope_count, sizeof *tables->scopes);
	tables->row_starts =
		shrunk(tables->row_starts, tables->row_count, sizeof *tables->row_starts);
	tables->rows = shrunk(tables->rows, tables->row_count, sizeof *tables->rows);
	tables->names = shrunk(tables->names, tables->name_count, sizeof *tables->names);
	tables->files = shrunk(tables->files, tables->file_count, sizeof *tables->files);
}

static bool fill(struct building *building, struct unit_tables *tables)
{
	building->file_indexes =
		calloc(building->lines.files.count + 1, sizeof *building->file_indexes);
	if (!building->file_indexes || !fill_owners(building, tables) ||
	    !fill_rows(building, tables) || !fill_scopes(building, tables))
		return false;
	tables->file_count = (uint32_t)building->files.count;
	tables->files = building->files.items;
	building->files.items = NULL;
	return true;
}

static struct imp_error *build(const struct debug_file *file, struct building *building,
			       struct unit_tables *tables)
{
	struct imp_error *err = file->splits && building->unit->split_name
					? split_scopes_read(file->splits, file, building->unit,
							    building->pool, &building->tree)
					: scope_tree_read(file, building->unit, &building->tree);
	if (!err)
		err = intervals_partition(&building->tree.places, &building->boundaries);
	if (!err)
		err = line_table_read(file, building->unit, &building->lines);
	if (!err && !fill(building, tables))
		err = &imp_error_no_memory;
	return err;
}

struct imp_error *unit_tables_build(const struct debug_file *file, const struct unit *unit,
				    uint64_t base, struct path_pool *pool, struct unit_tables **ret)
{
	struct building building = { .unit = unit, .base = base, .pool = pool };
	struct unit_tables *tables = calloc(1, sizeof *tables);
	if (!tables)
		return &imp_error_no_memory;
	tables->base = base;
	// A unit without addresses (types, declarations) has no answers.
	struct imp_error *err = base == UINT64_MAX ? NULL : build(file, &building, tables);
	line_table_fini(&building.lines);
	scope_tree_fini(&building.tree);
	array_fini(&building.boundaries.list);
	free(building.file_indexes);
	array_fini(&building.files);
	buffer_fini(&building.path);
	if (err) {
		unit_tables_free(tables);
		return err;
	}
	shrink(tables);
	*ret = tables;
	return NULL;
}

void unit_tables_free(struct unit_tables *tables)
{
	if (!tables)
		return;
	if (!tables->is_mapped) {
		free(tables->owner_starts);
		free(tables->owners);
		free(tables->scopes);
		free(tables->row_starts);
		free(tables->rows);
		free(tables->names);
		free(tables->files);
	}
	free(tables);
}
