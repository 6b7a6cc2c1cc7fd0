// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A build saved as an index, and an index in the place of a build.
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel.h"
#include "dwarf/dwarf_parts.h"

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
	struct imp_error *err = dwarf_make_tables(saving->dwarf, index, &saving->made[piece]);
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

struct imp_error *dwarf_save_index(struct dwarf *dwarf, const struct dwarf_saving *to)
{
	struct index_writer *writer;
	struct imp_error *err = index_writer_new(to->fd, to->path, &to->id, &to->sources, &writer);
	if (err)
		return err;
	err = index_writer_begin(writer, &dwarf->map.units, dwarf->table_count);
	struct saving saving = { .dwarf = dwarf };
	while (saving.first < dwarf->table_count && !err) {
		size_t left = dwarf->table_count - saving.first;
		size_t count = left < saved_at_once ? left : saved_at_once;
		err = save_some(&saving, count, to->workers, writer);
		saving.first += count;
	}
	if (!err)
		err = index_writer_finish(writer);
	index_writer_free(writer);
	return err;
}

struct imp_error *dwarf_open_index(int fd, const char *path, const struct build_id *id,
				   struct dwarf_sources *sources, struct dwarf **ret)
{
	struct dwarf *dwarf = calloc(1, sizeof *dwarf);
	if (!dwarf) {
		close(fd);
		return &imp_error_no_memory;
	}
	struct imp_error *err = index_open(fd, path, id, sources, &dwarf->index);
	if (!err)
		err = index_boundaries(dwarf->index, &dwarf->map.units);
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
