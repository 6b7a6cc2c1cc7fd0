// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sharing processes among trees.
#include "environment/checkout_plan.h"

#include <string.h>

#include "base/hash.h"

enum { NOTHING = UINT32_MAX };

void checkout_plan_fini(struct checkout_plan *plan)
{
	array_fini(&plan->files);
	table_fini(&plan->by_path);
	array_fini(&plan->namespaces);
	array_fini(&plan->roots);
}

// PATH below a directory. NULL for what is no absolute path or would leave the directory: a
// snapshot is foreign.
static const char *safe_path(const char *path)
{
	if (path[0] != '/' || !path[1])
		return NULL;
	for (const char *part = path + 1; *part;) {
		size_t length = strcspn(part, "/");
		bool is_dots = (length == 1 && part[0] == '.') ||
			       (length == 2 && part[0] == '.' && part[1] == '.');
		if (!length || is_dots)
			return NULL;
		part += length + (part[length] == '/');
		if (!*part && part[-1] == '/')
			return NULL;
	}
	return path + 1;
}

struct imp_error *checkout_note_missing(struct checkout *ret, uint32_t image, const char *why)
{
	for (size_t i = 0; i < ret->missing.count; i++)
		if (ret->missing.items[i].image == image)
			return NULL;
	struct checkout_missing *missing = array_add(&ret->missing);
	if (!missing)
		return &imp_error_no_memory;
	*missing = (struct checkout_missing){ .image = image, .why = why };
	return NULL;
}

static const struct snapshot_image *image_of(const struct checkout_plan *plan,
					     const struct snapshot_process *process, size_t at,
					     uint32_t *number)
{
	*number = plan->snapshot->mappings.items[process->first_mapping + at].image;
	return &plan->snapshot->images.items[*number];
}

static uint64_t path_hash(uint32_t tree, const char *path)
{
	return hash_bytes(tree, path, strlen(path));
}

// The image at PATH of TREE, or NOTHING.
static uint32_t image_at(const struct checkout_plan *plan, uint32_t tree, const char *path)
{
	struct table_probe probe = table_probe(&plan->by_path, path_hash(tree, path));
	uint32_t index;
	while (table_next(&plan->by_path, &probe, &index)) {
		const struct checkout_file *file = &plan->files.items[index];
		if (file->tree == tree && !strcmp(file->path, path))
			return file->image;
	}
	return NOTHING;
}

static bool are_one_build(const struct checkout_plan *plan, uint32_t a, uint32_t b)
{
	const struct snapshot_image *images = plan->snapshot->images.items;
	return a == b || snapshot_images_equal(&images[a], &images[b]);
}

// Whether every path of PROCESS is free in TREE, or has the build that PROCESS saw.
static bool fits(const struct checkout_plan *plan, uint32_t tree,
		 const struct snapshot_process *process)
{
	if (plan->namespaces.items[tree] != process->mount_namespace ||
	    strcmp(plan->roots.items[tree], process->root) != 0)
		return false;
	for (size_t i = 0; i < process->mapping_count; i++) {
		uint32_t number;
		const struct snapshot_image *image = image_of(plan, process, i, &number);
		const char *path = safe_path(snapshot_path_in_root(process->root, image->path));
		if (image->kind != MAPPED_FILE || !path)
			continue;
		uint32_t there = image_at(plan, tree, path);
		if (there != NOTHING && !are_one_build(plan, there, number))
			return false;
	}
	return true;
}

static struct imp_error *put(struct checkout_plan *plan, uint32_t tree,
			     const struct snapshot_process *process, struct checkout *ret)
{
	for (size_t i = 0; i < process->mapping_count; i++) {
		uint32_t number;
		const struct snapshot_image *image = image_of(plan, process, i, &number);
		const char *path = safe_path(snapshot_path_in_root(process->root, image->path));
		if (image->kind != MAPPED_FILE || (path && image_at(plan, tree, path) != NOTHING))
			continue;
		if (!path) {
			struct imp_error *err = checkout_note_missing(
				ret, number, "its path leads to no place in the directory");
			if (err)
				return err;
			continue;
		}
		struct checkout_file *file = array_add(&plan->files);
		if (!file || !table_insert(&plan->by_path, path_hash(tree, path),
					   (uint32_t)plan->files.count - 1))
			return &imp_error_no_memory;
		*file = (struct checkout_file){ .tree = tree, .image = number, .path = path };
	}
	return NULL;
}

static struct imp_error *find_tree(struct checkout_plan *plan,
				   const struct snapshot_process *process, struct checkout *ret,
				   uint32_t *tree)
{
	for (*tree = 0; *tree < ret->trees.count; (*tree)++)
		if (fits(plan, *tree, process))
			return NULL;
	struct checkout_tree *added = array_add(&ret->trees);
	uint64_t *space = array_add(&plan->namespaces);
	const char **root = array_add(&plan->roots);
	if (!added || !space || !root)
		return &imp_error_no_memory;
	*space = process->mount_namespace;
	*root = process->root;
	return NULL;
}

// "host", the container's ID, or the first process; a second tree of one name gets a number.
static void name_trees(const struct snapshot *snapshot, struct checkout *ret)
{
	for (size_t i = 0; ret->trees.count > 1 && i < ret->trees.count; i++) {
		struct checkout_tree *tree = &ret->trees.items[i];
		const struct snapshot_process *first =
			&snapshot->processes.items[tree->processes.items[0]];
		char base[64];
		if (*first->container && !strchr(first->container, '/') &&
		    first->container[0] != '.')
			snprintf(base, sizeof base, "%.12s", first->container);
		else if (!strcmp(first->root, "/"))
			snprintf(base, sizeof base, "root");
		else
			snprintf(base, sizeof base, "pid-%u", first->pid);
		size_t same = 0;
		for (size_t k = 0; k < i; k++) {
			const char *other = ret->trees.items[k].name;
			size_t length = strlen(base);
			same += !strncmp(other, base, length) &&
				(!other[length] || other[length] == '.');
		}
		if (same)
			snprintf(tree->name, sizeof tree->name, "%s.%zu", base, same + 1);
		else
			snprintf(tree->name, sizeof tree->name, "%s", base);
	}
}

struct imp_error *checkout_plan_make(struct checkout_plan *plan, uint32_t pid, struct checkout *ret)
{
	const struct snapshot *snapshot = plan->snapshot;
	for (uint32_t i = 0; i < snapshot->processes.count; i++) {
		const struct snapshot_process *process = &snapshot->processes.items[i];
		if ((pid && process->pid != pid) || !process->mapping_count)
			continue;
		uint32_t tree;
		struct imp_error *err = find_tree(plan, process, ret, &tree);
		if (!err)
			err = put(plan, tree, process, ret);
		if (err)
			return err;
		uint32_t *member = array_add(&ret->trees.items[tree].processes);
		if (!member)
			return &imp_error_no_memory;
		*member = i;
	}
	name_trees(snapshot, ret);
	return NULL;
}
