// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A running process's mappings as images and offsets.
#include "cli/process_places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "live/maps.h"

struct process_places {
	struct proc *proc;
	struct mapped_files *files;
	struct mappings mappings;
	uint32_t pid, inner_pid;
	char map_dir[64];
	char mapping_path[96];
};

// The last number of NSpid is what the process knows itself by, and names its map by.
static uint32_t inner_pid_of(const struct proc *proc, uint32_t pid)
{
	char status[4096];
	if (!proc_text(proc, status, sizeof status, "%u/status", pid))
		return pid;
	const char *line = strstr(status, "\nNSpid:");
	const char *end = line ? strchr(line + 1, '\n') : NULL;
	uint32_t inner = pid;
	for (const char *at = line ? line + 7 : NULL; at && end && at < end;) {
		char *next;
		unsigned long number = strtoul(at, &next, 10);
		if (next == at)
			break;
		inner = (uint32_t)number;
		at = next;
	}
	return inner;
}

static struct imp_error *read_process(struct process_places *places)
{
	enum proc_outcome outcome = PROC_READ;
	struct imp_error *err = proc_open(NULL, &places->proc);
	if (!err)
		err = mapped_files_new(0, &places->files);
	if (!err)
		err = maps_read(places->proc, places->pid, NULL, places->files, &places->mappings,
				&outcome);
	if (err)
		return err;
	if (outcome == PROC_GONE)
		return error_new(IMP_ERR_USAGE, "there is no process %u", places->pid);
	if (outcome == PROC_FORBIDDEN)
		return error_new(IMP_ERR_USAGE,
				 "the mappings of process %u may not be read: try as root",
				 places->pid);
	places->inner_pid = inner_pid_of(places->proc, places->pid);
	snprintf(places->map_dir, sizeof places->map_dir, "/proc/%u/root/tmp", places->pid);
	return NULL;
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
	mappings_fini(&places->mappings);
	mapped_files_free(places->files);
	proc_free(places->proc);
	free(places);
}

static const struct mapping *mapping_at(const struct process_places *places, uint64_t address)
{
	for (size_t i = 0; i < places->mappings.count; i++) {
		const struct mapping *mapping = &places->mappings.items[i];
		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

bool process_places_at(struct process_places *places, uint64_t address, struct process_place *ret)
{
	const struct mapping *mapping = mapping_at(places, address);
	if (!mapping)
		return false;
	const struct mapped_file *file = mapped_files_at(places->files, mapping->file);
	bool has_id = file->id_is_known && !build_id_is_none(&file->id);
	ret->image = (struct image){
		.kind = mapped_image_kind(file->kind),
		.identity = has_id ? IDENTITY_MAP_TIME : IDENTITY_NONE,
		.id = file->id,
		.file = file->key,
		.path = file->path ? file->path : "//anon",
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
	const struct mapping *mapping = mapping_at(places, address);
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
	return places->map_dir;
}
