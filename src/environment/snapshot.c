// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Building a snapshot and asking it.
#include "environment/snapshot.h"

#include <jansson.h>
#include <string.h>

#include "base/hex.h"

struct imp_error *snapshot_new(const char *source, struct snapshot **ret)
{
	_cleanup_snapshot_ struct snapshot *snapshot = calloc(1, sizeof *snapshot);
	if (!snapshot)
		return &imp_error_no_memory;
	struct imp_error *err = snapshot_text(snapshot, source, &snapshot->source);
	if (err)
		return err;
	snapshot->host = snapshot->machine_id = snapshot->boot_id = "";
	snapshot->os = snapshot->os_version = snapshot->architecture = "";
	snapshot->kernel_release = "";
	*ret = steal(snapshot);
	return NULL;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	strings_fini(&snapshot->strings);
	array_fini(&snapshot->modules);
	array_fini(&snapshot->images);
	array_fini(&snapshot->processes);
	array_fini(&snapshot->mappings);
	free(snapshot);
}

struct imp_error *snapshot_text(struct snapshot *snapshot, const char *text, const char **ret)
{
	if (!text || !*text) {
		*ret = "";
		return NULL;
	}
	return strings_keep(&snapshot->strings, text, ret);
}

struct snapshot_image *snapshot_add_image(struct snapshot *snapshot)
{
	struct snapshot_image *image = array_add(&snapshot->images);
	if (image)
		image->path = image->soname = image->package = image->identity = "";
	return image;
}

struct snapshot_process *snapshot_add_process(struct snapshot *snapshot)
{
	struct snapshot_process *process = array_add(&snapshot->processes);
	if (!process)
		return NULL;
	process->comm = process->command = process->exe = process->user = "";
	process->cgroup = process->unit = process->runtime = process->container = "";
	process->unread = "";
	process->root = "/";
	process->first_mapping = snapshot->mappings.count;
	return process;
}

struct snapshot_module *snapshot_add_module(struct snapshot *snapshot)
{
	struct snapshot_module *module = array_add(&snapshot->modules);
	if (module)
		module->name = "";
	return module;
}

struct snapshot_mapping *snapshot_add_mapping(struct snapshot *snapshot)
{
	return array_add(&snapshot->mappings);
}

struct image_identity snapshot_image_identity(const struct snapshot_image *image)
{
	struct image_identity identity = { "" };
	if (!build_id_is_none(&image->id)) {
		hex_format(image->id.bytes, image->id.size, identity.text);
	} else if (image->has_content_hash) {
		memcpy(identity.text, "sha256:", 7);
		hex_format(image->content_hash, CONTENT_HASH_SIZE, identity.text + 7);
	}
	return identity;
}

bool snapshot_images_equal(const struct snapshot_image *a, const struct snapshot_image *b)
{
	if (a->id.size || b->id.size)
		return build_id_equal(&a->id, &b->id);
	return a->has_content_hash && b->has_content_hash &&
	       !memcmp(a->content_hash, b->content_hash, CONTENT_HASH_SIZE);
}

const char *snapshot_path_in_root(const char *root, const char *path)
{
	size_t length = strlen(root);
	if (length <= 1 || strncmp(path, root, length) || path[length] != '/')
		return path;
	return path + length;
}

bool snapshot_package_member(const struct snapshot_image *image, const char *key, char *value,
			     size_t size)
{
	value[0] = 0;
	if (!image->package[0])
		return false;
	json_t *package = json_loads(image->package, 0, NULL);
	const char *text = json_string_value(json_object_get(package, key));
	if (text)
		snprintf(value, size, "%s", text);
	json_decref(package);
	return value[0] != 0;
}

const struct snapshot_mapping *snapshot_locate(const struct snapshot *snapshot,
					       const struct snapshot_process *process,
					       uint64_t address)
{
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct snapshot_mapping *mapping =
			&snapshot->mappings.items[process->first_mapping + i];
		if (address >= mapping->start && address - mapping->start < mapping->size)
			return mapping;
	}
	return NULL;
}

const struct snapshot_process *snapshot_process_of(const struct snapshot *snapshot, uint32_t pid)
{
	for (size_t i = 0; i < snapshot->processes.count; i++)
		if (snapshot->processes.items[i].pid == pid)
			return &snapshot->processes.items[i];
	return NULL;
}
