// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Collecting the images of each program and comparing them.
#include "environment/program_difference.h"

#include <string.h>

// That processes of one program run one image: sorted by program, path and build.
struct use {
	const char *exe;
	const char *group;
	// "" stands for the process itself, which has no image but must be counted.
	const char *path;
	const char *build;
	uint32_t process;
};

struct uses {
	struct use *items;
	size_t count;
	size_t room;
};

static int compare_programs(const struct use *a, const struct use *b)
{
	int order = strcmp(a->exe, b->exe);
	return order ? order : strcmp(a->group, b->group);
}

static int compare_images(const struct use *a, const struct use *b)
{
	int order = strcmp(a->path, b->path);
	return order ? order : strcmp(a->build, b->build);
}

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	int order = compare_programs(a, b);
	if (!order)
		order = compare_images(a, b);
	return order ? order : a->process < b->process ? -1 : a->process > b->process;
}

static struct imp_error *add_use(struct uses *uses, const struct use *use)
{
	struct use *slot = array_add(uses);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *use;
	return NULL;
}

static struct imp_error *collect_process(const struct snapshot *snapshot, uint32_t number,
					 struct strings *pool, struct uses *uses)
{
	const struct snapshot_process *process = &snapshot->processes.items[number];
	const char *exe = *process->exe ? snapshot_path_in_root(process->root, process->exe)
					: process->comm;
	const char *group = *process->container ? process->runtime : process->unit;
	struct use use = { .path = "", .build = "", .process = number };
	// Of a replaced program the link says so; it is the same program.
	size_t length = strlen(exe);
	const char *mark = " (deleted)";
	bool is_marked = length > strlen(mark) && !strcmp(exe + length - strlen(mark), mark);
	uint32_t name;
	struct imp_error *err =
		strings_intern(pool, exe, is_marked ? length - strlen(mark) : length, &name);
	if (err)
		return err;
	use.exe = strings_at(pool, name);
	err = strings_keep(pool, group, &use.group);
	if (!err)
		err = add_use(uses, &use);
	for (size_t i = 0; !err && i < process->mapping_count; i++) {
		const struct snapshot_image *image =
			&snapshot->images
				 .items[snapshot->mappings.items[process->first_mapping + i].image];
		if (image->kind != MAPPED_FILE)
			continue;
		err = strings_keep(pool, snapshot_path_in_root(process->root, image->path),
				   &use.path);
		if (!err)
			err = strings_keep(pool, snapshot_image_identity(image).text, &use.build);
		if (!err)
			err = add_use(uses, &use);
	}
	return err;
}

static struct imp_error *collect(const struct snapshot *snapshot, struct strings *pool,
				 struct uses *uses)
{
	struct imp_error *err = NULL;
	for (uint32_t i = 0; !err && i < snapshot->processes.count; i++)
		err = collect_process(snapshot, i, pool, uses);
	if (!err && uses->count)
		qsort(uses->items, uses->count, sizeof *uses->items, compare_uses);
	return err;
}

// The uses of one program.
struct program {
	const struct use *uses;
	size_t count;
	uint64_t processes;
};

static struct program program_at(const struct uses *uses, size_t at)
{
	struct program program = { .uses = uses->items + at };
	while (at + program.count < uses->count &&
	       !compare_programs(program.uses, &program.uses[program.count])) {
		program.processes += !*program.uses[program.count].path;
		program.count++;
	}
	return program;
}

// The uses of one image by several processes stand together.
static size_t next_image(const struct program *program, size_t at)
{
	size_t next = at + 1;
	while (next < program->count && !compare_images(&program->uses[at], &program->uses[next]))
		next++;
	return next;
}

// Appends the paths whose builds differ to RET, each once.
static struct imp_error *list_differences(const struct program *before, const struct program *after,
					  struct difference *ret)
{
	const char *last = NULL;
	for (size_t i = 0, k = 0; i < before->count || k < after->count;) {
		int order = i == before->count	? 1
			    : k == after->count ? -1
						: compare_images(&before->uses[i], &after->uses[k]);
		const struct use *use = order <= 0 ? &before->uses[i] : &after->uses[k];
		if (order && use->path != last) {
			const char **path = array_add(&ret->program_images);
			if (!path)
				return &imp_error_no_memory;
			*path = last = use->path;
		}
		if (order <= 0)
			i = next_image(before, i);
		if (order >= 0)
			k = next_image(after, k);
	}
	return NULL;
}

static struct imp_error *add_program(const struct program *before, const struct program *after,
				     struct difference *ret)
{
	const struct use *named = before->count ? before->uses : after->uses;
	struct program_row row = { .exe = named->exe,
				   .group = named->group,
				   .before = before->processes,
				   .after = after->processes,
				   .first_image = ret->program_images.count };
	struct imp_error *err = NULL;
	if (before->count && after->count)
		err = list_differences(before, after, ret);
	row.image_count = ret->program_images.count - row.first_image;
	row.kind = !before->count    ? DIFFERENCE_NEW
		   : !after->count   ? DIFFERENCE_GONE
		   : row.image_count ? DIFFERENCE_CHANGED
				     : DIFFERENCE_SAME;
	struct program_row *slot = err ? NULL : array_add(&ret->programs);
	if (!slot)
		return err ? err : &imp_error_no_memory;
	*slot = row;
	return NULL;
}

struct imp_error *program_difference(const struct snapshot *before, const struct snapshot *after,
				     struct difference *ret)
{
	struct uses old = { 0 }, new = { 0 };
	struct imp_error *err = collect(before, &ret->strings, &old);
	if (!err)
		err = collect(after, &ret->strings, &new);
	for (size_t i = 0, k = 0; !err && (i < old.count || k < new.count);) {
		struct program a = program_at(&old, i), b = program_at(&new, k);
		int order = !a.count ? 1 : !b.count ? -1 : compare_programs(a.uses, b.uses);
		if (order < 0)
			b = (struct program){ 0 };
		else if (order > 0)
			a = (struct program){ 0 };
		err = add_program(&a, &b, ret);
		i += a.count;
		k += b.count;
	}
	array_fini(&old);
	array_fini(&new);
	return err;
}
