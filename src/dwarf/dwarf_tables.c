// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Units' tables, made when an address in them is first asked for.
#include <stdlib.h>

#include "base/parallel.h"
#include "dwarf/dwarf_parts.h"

struct imp_error *dwarf_make_tables(struct dwarf *dwarf, size_t index, struct unit_tables **ret)
{
	if (dwarf->index)
		return index_tables(dwarf->index, index, ret);
	const struct unit *unit = &dwarf->file.units[index];
	struct imp_error *err =
		unit_tables_build(&dwarf->file, unit, dwarf->map.bases[index], dwarf->paths, ret);
	debug_section_release(&dwarf->file.sections, DEBUG_INFO, unit->offset,
			      unit->end - unit->offset);
	return err;
}

// Two threads may make the same tables at once; the first that is done wins.
static struct imp_error *keep_tables(struct dwarf *dwarf, size_t index,
				     const struct unit_tables **ret)
{
	struct unit_tables *made, *other = NULL;
	struct imp_error *err = dwarf_make_tables(dwarf, index, &made);
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

struct imp_error *dwarf_tables(struct dwarf *dwarf, size_t index, const struct unit_tables **ret)
{
	*ret = atomic_load(&dwarf->tables[index]);
	return *ret ? NULL : keep_tables(dwarf, index, ret);
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
	return dwarf_tables(preparation->dwarf, preparation->units.items[piece], &tables);
}

static bool want_unit(struct preparation *preparation, bool *is_wanted, uint64_t address)
{
	uint32_t owner = boundaries_owner(&preparation->dwarf->map.units, address);
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
