// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening the DWARF of a build, and asking it.
#include "dwarf/dwarf.h"

#include <stdlib.h>

#include "dwarf/dwarf_parts.h"
#include "dwarf/frames.h"

static struct imp_error *read_all(struct dwarf *dwarf)
{
	struct imp_error *err = debug_file_read_units(&dwarf->file);
	if (!err)
		err = debug_file_read_units(&dwarf->alt);
	if (err)
		return err;
	size_t count = dwarf->file.unit_count + 1;
	dwarf->table_count = dwarf->file.unit_count;
	dwarf->tables = calloc(count, sizeof *dwarf->tables);
	dwarf->paths = path_pool_new();
	if (!dwarf->tables || !dwarf->paths)
		return &imp_error_no_memory;
	if (dwarf_split_units(dwarf))
		err = split_files_new(dwarf->file.sections.image, &dwarf->file.splits);
	return err ? err : unit_map_read(&dwarf->file, &dwarf->map);
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
	unit_map_fini(&dwarf->map);
	path_pool_free(dwarf->paths);
	index_free(dwarf->index);
	split_files_free(dwarf->file.splits);
	debug_file_fini(&dwarf->file);
	debug_file_fini(&dwarf->alt);
	free(dwarf);
}

struct imp_error *dwarf_find(struct dwarf *dwarf, elf_addr address, struct dwarf_frame *frames,
			     uint32_t *count)
{
	uint32_t owner = boundaries_owner(&dwarf->map.units, address.value);
	*count = 0;
	if (owner == NO_OWNER)
		return NULL;
	const struct unit_tables *tables;
	struct imp_error *err = dwarf_tables(dwarf, owner, &tables);
	if (err)
		return err;
	uint64_t relative = address.value - tables->base;
	if (relative <= UINT32_MAX)
		frames_of_tables(tables, (uint32_t)relative, frames, count);
	return NULL;
}

size_t dwarf_split_units(const struct dwarf *dwarf)
{
	size_t count = 0;
	for (size_t i = 0; i < dwarf->file.unit_count; i++)
		count += dwarf->file.units[i].split_name != NULL;
	return count;
}

struct dwarf_loss dwarf_split_loss(const struct dwarf *dwarf)
{
	return dwarf->file.splits ? split_files_loss(dwarf->file.splits) : (struct dwarf_loss){ 0 };
}

bool dwarf_is_index(const struct dwarf *dwarf)
{
	return dwarf->index;
}

uint64_t dwarf_info_size(const struct dwarf *dwarf)
{
	return dwarf->file.sections.all[DEBUG_INFO].size;
}

double dwarf_share_read(const struct dwarf *dwarf)
{
	uint64_t all = dwarf_info_size(dwarf);
	return all ? (double)atomic_load(&dwarf->read_bytes) / (double)all : 0;
}
