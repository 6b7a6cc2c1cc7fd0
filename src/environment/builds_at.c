// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Collecting builds by path.
#include "environment/builds_at.h"

#include <string.h>

#include "base/hash.h"

enum { NO_PROCESS = UINT32_MAX };

void builds_at_fini(struct builds_at *builds)
{
	array_fini(builds);
	table_fini(&builds->table);
}

// Counts PROCESS for the build that is like WANTED, whose texts are all pooled.
static struct imp_error *count(struct builds_at *builds, const struct build_at *wanted,
			       uint32_t process)
{
	uint64_t hash = hash_mix((uintptr_t)wanted->path, (uintptr_t)wanted->build);
	struct table_probe probe = table_probe(&builds->table, hash);
	uint32_t index;
	while (table_next(&builds->table, &probe, &index)) {
		struct build_at *found = &builds->items[index];
		if (found->path != wanted->path || found->build != wanted->build ||
		    found->role != wanted->role)
			continue;
		found->processes += found->last_process != process;
		found->last_process = process;
		return NULL;
	}
	index = (uint32_t)builds->count;
	struct build_at *slot = array_add(builds);
	if (!slot || !table_insert(&builds->table, hash, index))
		return &imp_error_no_memory;
	*slot = *wanted;
	slot->processes = process != NO_PROCESS;
	slot->last_process = process;
	return NULL;
}

static struct imp_error *count_image(const struct snapshot_image *image, const char *path,
				     struct strings *pool, struct builds_at *builds,
				     uint32_t process)
{
	struct build_at wanted = {
		.role = image->kind == MAPPED_VDSO ? ROLE_VDSO : ROLE_FILE,
		.soname = image->soname,
	};
	char version[256];
	snapshot_package_member(image, "version", version, sizeof version);
	struct imp_error *err = strings_keep(pool, path, &wanted.path);
	if (!err)
		err = strings_keep(pool, snapshot_image_identity(image).text, &wanted.build);
	if (!err)
		err = strings_keep(pool, version, &wanted.version);
	return err ? err : count(builds, &wanted, process);
}

static bool is_compared(enum mapped_kind kind)
{
	return kind == MAPPED_FILE || kind == MAPPED_VDSO;
}

static struct imp_error *count_process(const struct snapshot *snapshot, uint32_t number,
				       struct strings *pool, struct builds_at *builds,
				       bool *is_mapped)
{
	const struct snapshot_process *process = &snapshot->processes.items[number];
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < process->mapping_count; i++) {
		uint32_t index = snapshot->mappings.items[process->first_mapping + i].image;
		const struct snapshot_image *image = &snapshot->images.items[index];
		is_mapped[index] = true;
		if (is_compared(image->kind))
			err = count_image(image, snapshot_path_in_root(process->root, image->path),
					  pool, builds, number);
	}
	return err;
}

static struct imp_error *count_kernel(const struct snapshot *snapshot, struct strings *pool,
				      struct builds_at *builds)
{
	struct build_at kernel = { .role = ROLE_KERNEL, .soname = "" };
	struct imp_error *err = strings_keep(pool, "[kernel]", &kernel.path);
	if (!err)
		err = strings_keep(pool, build_id_text(&snapshot->kernel_id).text, &kernel.build);
	if (!err)
		err = strings_keep(pool, snapshot->kernel_release, &kernel.version);
	if (!err && (*kernel.build || *kernel.version))
		err = count(builds, &kernel, NO_PROCESS);
	for (size_t i = 0; !err && i < snapshot->modules.count; i++) {
		const struct snapshot_module *from = &snapshot->modules.items[i];
		struct build_at module = { .role = ROLE_MODULE, .soname = "", .version = "" };
		err = strings_keep(pool, from->name, &module.path);
		if (!err)
			err = strings_keep(pool, build_id_text(&from->id).text, &module.build);
		if (!err)
			err = count(builds, &module, NO_PROCESS);
	}
	return err;
}

static int compare_builds(const void *left, const void *right)
{
	const struct build_at *a = left, *b = right;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	int order = strcmp(a->path, b->path);
	return order ? order : strcmp(a->build, b->build);
}

struct imp_error *builds_at_collect(const struct snapshot *snapshot, struct strings *pool,
				    struct builds_at *ret)
{
	_cleanup_free_ bool *is_mapped = calloc(snapshot->images.count + 1, sizeof *is_mapped);
	if (!is_mapped)
		return &imp_error_no_memory;
	struct imp_error *err = count_kernel(snapshot, pool, ret);
	for (uint32_t i = 0; !err && i < snapshot->processes.count; i++)
		err = count_process(snapshot, i, pool, ret, is_mapped);
	// Recordings may know images without the processes.
	for (size_t i = 0; !err && i < snapshot->images.count; i++) {
		const struct snapshot_image *image = &snapshot->images.items[i];
		if (!is_mapped[i] && is_compared(image->kind))
			err = count_image(image, image->path, pool, ret, NO_PROCESS);
	}
	if (!err && ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_builds);
	return err;
}
