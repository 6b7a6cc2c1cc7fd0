// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A process's mappings as images and offsets.
#include "cli/process_places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "environment/source.h"
#include "live/maps.h"
#include "live/process.h"

// A mapping, whoever knows it. The path is lent.
struct known_mapping {
	uint64_t start, end, offset;
	enum mapped_kind kind;
	struct build_id id;
	bool has_id;
	struct file_key key;
	const char *path;
};

struct process_places {
	struct proc *proc;
	struct mapped_files *files;
	// NULL when the process runs.
	struct snapshot *snapshot;
	ARRAY_OF(struct known_mapping) mappings;
	uint32_t pid, inner_pid;
	char map_dir[64];
	char mapping_path[96];
};

static struct imp_error *keep(struct process_places *places, const struct known_mapping *mapping)
{
	struct known_mapping *slot = array_add(&places->mappings);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *mapping;
	return NULL;
}

static struct imp_error *keep_live(struct process_places *places, const struct mappings *mappings)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->items[i];
		const struct mapped_file *file = mapped_files_at(places->files, mapping->file);
		err = keep(places, &(struct known_mapping){ .start = mapping->start,
							    .end = mapping->end,
							    .offset = mapping->offset,
							    .kind = file->kind,
							    .id = file->id,
							    .has_id = file->id_is_known &&
								      !build_id_is_none(&file->id),
							    .key = file->key,
							    .path = file->path });
	}
	return err;
}

static struct imp_error *read_process(struct process_places *places)
{
	_cleanup_mappings_ struct mappings mappings = { 0 };
	enum proc_outcome outcome = PROC_READ;
	struct imp_error *err = proc_open(NULL, &places->proc);
	if (!err)
		err = mapped_files_new(0, &places->files);
	if (!err)
		err = maps_read(places->proc, places->pid, NULL, places->files, &mappings,
				&outcome);
	if (err)
		return err;
	if (outcome == PROC_GONE)
		return error_new(IMP_ERR_USAGE, "there is no process %u", places->pid);
	if (outcome == PROC_FORBIDDEN)
		return error_new(IMP_ERR_USAGE,
				 "the mappings of process %u may not be read: try as root",
				 places->pid);
	places->inner_pid = process_inner_pid(places->proc, places->pid);
	snprintf(places->map_dir, sizeof places->map_dir, "/proc/%u/root/tmp", places->pid);
	return keep_live(places, &mappings);
}

struct imp_error *snapshot_process_chosen(const struct snapshot *snapshot, const char *name,
					  uint32_t pid, const struct snapshot_process **ret)
{
	if (!pid && snapshot->processes.count != 1)
		return error_new(IMP_ERR_USAGE, "%s has %zu processes: say which with --pid", name,
				 snapshot->processes.count);
	const struct snapshot_process *process = pid ? snapshot_process_of(snapshot, pid)
						     : &snapshot->processes.items[0];
	if (!process)
		return error_new(IMP_ERR_USAGE, "%s has no process %u", name, pid);
	if (*process->unread)
		return error_new(IMP_ERR_USAGE, "%s does not know the mappings of process %u: %s",
				 name, pid, process->unread);
	*ret = process;
	return NULL;
}

static struct imp_error *keep_snapshot(struct process_places *places,
				       const struct snapshot_process *process)
{
	const struct snapshot *snapshot = places->snapshot;
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < process->mapping_count; i++) {
		const struct snapshot_mapping *mapping =
			&snapshot->mappings.items[process->first_mapping + i];
		const struct snapshot_image *image = &snapshot->images.items[mapping->image];
		err = keep(places, &(struct known_mapping){ .start = mapping->start,
							    .end = mapping->start + mapping->size,
							    .offset = mapping->offset,
							    .kind = image->kind,
							    .id = image->id,
							    .has_id = !build_id_is_none(&image->id),
							    .path = image->path });
	}
	return err;
}

struct imp_error *process_places_open_snapshot(const char *name, uint32_t pid,
					       struct process_places **ret)
{
	struct process_places *places = calloc(1, sizeof *places);
	if (!places)
		return &imp_error_no_memory;
	const struct snapshot_process *process = NULL;
	struct imp_error *err = source_snapshot(name, NULL, &places->snapshot);
	if (!err)
		err = snapshot_process_chosen(places->snapshot, name, pid, &process);
	if (!err) {
		places->pid = places->inner_pid = process->pid;
		err = keep_snapshot(places, process);
	}
	if (err)
		process_places_close(places);
	else
		*ret = places;
	return err;
}

struct imp_error *process_places_open(uint32_t pid, struct process_places **ret)
{
	struct process_places *places = calloc(1, sizeof *places);
	if (!places)
		return &imp_error_no_memory;
	places->pid = pid;
	struct imp_error *err = read_process(places);
	if (err)
		process_places_close(places);
	else
		*ret = places;
	return err;
}

void process_places_close(struct process_places *places)
{
	if (!places)
		return;
	array_fini(&places->mappings);
	snapshot_free(places->snapshot);
	mapped_files_free(places->files);
	proc_free(places->proc);
	free(places);
}

static const struct known_mapping *mapping_at(const struct process_places *places, uint64_t address)
{
	for (size_t i = 0; i < places->mappings.count; i++) {
		const struct known_mapping *mapping = &places->mappings.items[i];
		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

bool process_places_at(struct process_places *places, uint64_t address, struct process_place *ret)
{
	const struct known_mapping *mapping = mapping_at(places, address);
	if (!mapping)
		return false;
	ret->image = (struct image){
		.kind = mapped_image_kind(mapping->kind),
		.identity = mapping->has_id ? IDENTITY_MAP_TIME : IDENTITY_NONE,
		.id = mapping->id,
		.file = mapping->key,
		.path = mapping->path ? mapping->path : "//anon",
	};
	switch (ret->image.kind) {
	case IMAGE_ANON:
	case IMAGE_JIT:
	case IMAGE_SPECIAL:
		ret->image.pid = places->inner_pid;
		ret->offset = file_off_of(address);
		break;
	case IMAGE_VDSO:
		ret->offset = file_off_of(address - mapping->start);
		break;
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_MODULE:
	case IMAGE_USER:
	case IMAGE_KINDS:
	default:
		ret->offset = file_off_of(address - mapping->start + mapping->offset);
		break;
	}
	return true;
}

bool process_places_by_mapping(struct process_places *places, uint64_t address,
			       struct process_place *ret)
{
	const struct known_mapping *mapping = places->snapshot ? NULL : mapping_at(places, address);
	if (!mapping || !process_places_at(places, address, ret) || ret->image.kind != IMAGE_USER)
		return false;
	snprintf(places->mapping_path, sizeof places->mapping_path,
		 "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, places->pid, mapping->start,
		 mapping->end);
	ret->image.path = places->mapping_path;
	return true;
}

const char *process_places_map_dir(const struct process_places *places)
{
	return places->snapshot ? NULL : places->map_dir;
}
