// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The units of a file by address, and the tables of those that were asked for.
#include "dwarf/dwarf.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/parallel.h"
#include "dwarf/aranges.h"
#include "dwarf/index.h"
#include "dwarf/ranges.h"
#include "dwarf/unit_tables.h"

struct dwarf {
	struct debug_file file;
	struct debug_file alt;
	// By address: the index of the unit.
	struct boundaries units;
	// The lowest address of each unit.
	uint64_t *bases;
	_Atomic(struct unit_tables *) *tables;
	struct path_pool *paths;
	// In place of all of the above but `units` and `tables`.
	struct index_file *index;
	size_t table_count;
	_Atomic uint64_t read_bytes;
};

// Of several units at an address the first has it, and of several owners the highest: so they are
// counted down. The function is its own inverse.
static uint32_t owner_of_unit(size_t unit)
{
	return (uint32_t)(UINT32_MAX - 1 - unit);
}

static struct imp_error *add_unit_places(const struct debug_file *file, size_t index,
					 uint64_t *budget, struct intervals *places)
{
	const struct unit *unit = &file->units[index];
	struct code_place place = { .has_low_pc = unit->has_low_pc,
				    .low_pc = unit->low_pc,
				    .high_pc = unit->high_pc,
				    .ranges = unit->ranges };
	return ranges_of_place(file, unit, &place, owner_of_unit(index), budget, places);
}

static struct imp_error *map_units(struct dwarf *dwarf)
{
	const struct debug_file *file = &dwarf->file;
	const struct section *all = file->sections.all;
	uint64_t budget = 1024 + all[DEBUG_RANGES].size + all[DEBUG_RNGLISTS].size;
	struct intervals places = { 0 };
	struct imp_error *err = NULL;
	bool is_complete = true;
	for (size_t i = 0; i < file->unit_count && !err; i++) {
		size_t before = places.list.count;
		err = add_unit_places(file, i, &budget, &places);
		is_complete &= places.list.count > before;
	}
	// Units whose root says nothing of their code may be in the table made for it.
	if (!err && !is_complete)
		err = aranges_add(file, &places);
	if (!err)
		err = intervals_partition(&places, &dwarf->units);
	for (size_t i = 0; i < file->unit_count; i++)
		dwarf->bases[i] = UINT64_MAX;
	for (size_t i = 0; i < places.list.count; i++) {
		uint64_t *base = &dwarf->bases[owner_of_unit(places.list.items[i].owner)];
		if (places.list.items[i].begin < *base)
			*base = places.list.items[i].begin;
	}
	array_fini(&places.list);
	for (size_t i = 0; i < dwarf->units.list.count; i++) {
		uint32_t *owner = &dwarf->units.list.items[i].owner;
		if (*owner != NO_OWNER)
			*owner = (uint32_t)owner_of_unit(*owner);
	}
	return err;
}

static struct imp_error *read_all(struct dwarf *dwarf)
{
	struct imp_error *err = debug_file_read_units(&dwarf->file);
	if (!err)
		err = debug_file_read_units(&dwarf->alt);
	if (err)
		return err;
	size_t count = dwarf->file.unit_count + 1;
	dwarf->table_count = dwarf->file.unit_count;
	dwarf->bases = calloc(count, sizeof *dwarf->bases);
	dwarf->tables = calloc(count, sizeof *dwarf->tables);
	dwarf->paths = path_pool_new();
	if (!dwarf->bases || !dwarf->tables || !dwarf->paths)
		return &imp_error_no_memory;
	return map_units(dwarf);
}

struct imp_error *dwarf_new(struct debug_sections *sections, struct debug_sections *alt,
			    uint64_t code_start, uint64_t code_end, struct dwarf **ret)
{
	struct dwarf *dwarf = calloc(1, sizeof *dwarf);
	struct debug_sections empty = { 0 };
	if (!dwarf) {
		debug_sections_close(sections);
		debug_sections_close(alt ? alt : &empty);
		return &imp_error_no_memory;
	}
	dwarf->file.sections = *sections;
	dwarf->alt.sections = alt ? *alt : empty;
	dwarf->file.alt = alt ? &dwarf->alt : NULL;
	// Nothing but an object file has code at address 0.
	dwarf->file.code_start = code_start || sections->is_relocatable ? code_start : 1;
	dwarf->file.code_end = code_end;
	*sections = empty;
	if (alt)
		*alt = empty;
	struct imp_error *err = read_all(dwarf);
	if (err)
		dwarf_free(dwarf);
	else
		*ret = dwarf;
	return err;
}

void dwarf_free(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (size_t i = 0; dwarf->tables && i < dwarf->table_count; i++)
		unit_tables_free(atomic_load(&dwarf->tables[i]));
	free(dwarf->tables);
	free(dwarf->bases);
	array_fini(&dwarf->units.list);
	path_pool_free(dwarf->paths);
	index_free(dwarf->index);
	debug_file_fini(&dwarf->file);
	debug_file_fini(&dwarf->alt);
	free(dwarf);
}

static struct imp_error *make_tables(struct dwarf *dwarf, size_t index, struct unit_tables **ret)
{
	if (dwarf->index)
		return index_tables(dwarf->index, index, ret);
	const struct unit *unit = &dwarf->file.units[index];
	struct imp_error *err =
		unit_tables_build(&dwarf->file, unit, dwarf->bases[index], dwarf->paths, ret);
	debug_section_release(&dwarf->file.sections, DEBUG_INFO, unit->offset,
			      unit->end - unit->offset);
	return err;
}

// Two threads may make the same tables at once; the first that is done wins.
static struct imp_error *keep_tables(struct dwarf *dwarf, size_t index,
				     const struct unit_tables **ret)
{
	struct unit_tables *made, *other = NULL;
	struct imp_error *err = make_tables(dwarf, index, &made);
	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&dwarf->tables[index], &other, made)) {
		unit_tables_free(made);
		made = other;
	} else if (!dwarf->index) {
		const struct unit *unit = &dwarf->file.units[index];
		atomic_fetch_add(&dwarf->read_bytes, unit->end - unit->offset);
	}
	*ret = made;
	return NULL;
}

static struct imp_error *tables_of(struct dwarf *dwarf, size_t index,
				   const struct unit_tables **ret)
{
	*ret = atomic_load(&dwarf->tables[index]);
	return *ret ? NULL : keep_tables(dwarf, index, ret);
}

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
	frame->file = place->file < tables->file_count ? tables->files[place->file] : NULL;
	frame->line = place->line;
	frame->column = place->column;
}

static void fill_frames(const struct unit_tables *tables, uint32_t relative,
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
	while (scope != NO_SCOPE && *count < DWARF_MOST_FRAMES) {
		const struct scope *current = &tables->scopes[scope];
		struct dwarf_frame *frame = &frames[(*count)++];
		bool is_known = current->name < tables->name_count;
		*frame = (struct dwarf_frame){ .name = is_known ? tables->names[current->name]
								: NULL,
					       .is_inlined = current->parent != NO_SCOPE };
		fill_frame(tables, &place, frame);
		place = (struct place){ current->call_file, current->call_line,
					current->call_column };
		scope = current->parent;
	}
}

struct imp_error *dwarf_find(struct dwarf *dwarf, elf_addr address, struct dwarf_frame *frames,
			     uint32_t *count)
{
	uint32_t owner = boundaries_owner(&dwarf->units, address.value);
	*count = 0;
	if (owner == NO_OWNER)
		return NULL;
	const struct unit_tables *tables;
	struct imp_error *err = tables_of(dwarf, owner, &tables);
	if (err)
		return err;
	uint64_t relative = address.value - tables->base;
	if (relative <= UINT32_MAX)
		fill_frames(tables, (uint32_t)relative, frames, count);
	return NULL;
}

struct preparation {
	struct dwarf *dwarf;
	ARRAY_OF(size_t) units;
};

static struct imp_error *prepare_unit(void *arg, unsigned worker, size_t piece)
{
	struct preparation *preparation = arg;
	const struct unit_tables *tables;
	(void)worker;
	return tables_of(preparation->dwarf, preparation->units.items[piece], &tables);
}

static bool want_unit(struct preparation *preparation, bool *is_wanted, uint64_t address)
{
	uint32_t owner = boundaries_owner(&preparation->dwarf->units, address);
	size_t index = owner;
	if (owner == NO_OWNER || is_wanted[index])
		return true;
	is_wanted[index] = true;
	size_t *added = array_add(&preparation->units);
	if (added)
		*added = index;
	return added;
}

struct imp_error *dwarf_prepare(struct dwarf *dwarf, const elf_addr *addresses, size_t count,
				unsigned workers)
{
	struct preparation preparation = { .dwarf = dwarf };
	bool *is_wanted = calloc(dwarf->table_count + 1, sizeof *is_wanted);
	bool is_done = is_wanted;
	for (size_t i = 0; i < count && is_done; i++)
		is_done = want_unit(&preparation, is_wanted, addresses[i].value);
	free(is_wanted);
	struct imp_error *err = &imp_error_no_memory;
	if (is_done)
		err = parallel_run(workers, preparation.units.count, prepare_unit, &preparation);
	array_fini(&preparation.units);
	return err;
}

size_t dwarf_split_units(const struct dwarf *dwarf)
{
	size_t count = 0;
	for (size_t i = 0; i < dwarf->file.unit_count; i++)
		count += dwarf->file.units[i].split_name != NULL;
	return count;
}

bool dwarf_is_index(const struct dwarf *dwarf)
{
	return dwarf->index;
}

double dwarf_share_read(const struct dwarf *dwarf)
{
	uint64_t all = dwarf->file.sections.all[DEBUG_INFO].size;
	return all ? (double)atomic_load(&dwarf->read_bytes) / (double)all : 0;
}

// Units are made this many at a time, so that few of those nobody asked for are in memory.
enum { saved_at_once = 32 };

struct saving {
	struct dwarf *dwarf;
	size_t first;
	// Owned where the dwarf does not keep them.
	struct unit_tables *made[saved_at_once];
	const struct unit_tables *all[saved_at_once];
};

static struct imp_error *make_for_saving(void *arg, unsigned worker, size_t piece)
{
	struct saving *saving = arg;
	size_t index = saving->first + piece;
	(void)worker;
	saving->all[piece] = atomic_load(&saving->dwarf->tables[index]);
	if (saving->all[piece])
		return NULL;
	struct imp_error *err = make_tables(saving->dwarf, index, &saving->made[piece]);
	saving->all[piece] = saving->made[piece];
	return err;
}

static struct imp_error *save_some(struct saving *saving, size_t count, unsigned workers,
				   struct index_writer *writer)
{
	struct imp_error *err = parallel_run(workers, count, make_for_saving, saving);
	for (size_t i = 0; i < count; i++) {
		if (!err)
			err = index_writer_add(writer, saving->all[i]);
		unit_tables_free(saving->made[i]);
		saving->made[i] = NULL;
	}
	return err;
}

struct imp_error *dwarf_save_index(struct dwarf *dwarf, const struct build_id *id, int fd,
				   const char *path, unsigned workers)
{
	struct index_writer *writer;
	struct imp_error *err =
		index_writer_new(fd, path, id, &dwarf->units, dwarf->table_count, &writer);
	if (err)
		return err;
	struct saving saving = { .dwarf = dwarf };
	while (saving.first < dwarf->table_count && !err) {
		size_t left = dwarf->table_count - saving.first;
		size_t count = left < saved_at_once ? left : saved_at_once;
		err = save_some(&saving, count, workers, writer);
		saving.first += count;
	}
	if (!err)
		err = index_writer_finish(writer);
	index_writer_free(writer);
	return err;
}

struct imp_error *dwarf_open_index(int fd, const char *path, const struct build_id *id,
				   struct dwarf **ret)
{
	struct dwarf *dwarf = calloc(1, sizeof *dwarf);
	if (!dwarf) {
		close(fd);
		return &imp_error_no_memory;
	}
	struct imp_error *err = index_open(fd, path, id, &dwarf->index);
	if (!err)
		err = index_boundaries(dwarf->index, &dwarf->units);
	if (!err) {
		dwarf->table_count = index_unit_count(dwarf->index);
		dwarf->tables = calloc(dwarf->table_count + 1, sizeof *dwarf->tables);
		err = dwarf->tables ? NULL : &imp_error_no_memory;
	}
	if (err)
		dwarf_free(dwarf);
	else
		*ret = dwarf;
	return err;
}
