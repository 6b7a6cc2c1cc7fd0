// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From a finished timeline to a snapshot.
#include "environment/recorded.h"

#include <string.h>
#include <sys/stat.h>

#include "environment/mapped_name.h"

enum { NOT_TAKEN = UINT32_MAX };

struct taker {
	const struct timeline *timeline;
	struct snapshot *snapshot;
	// The snapshot's number of each of the timeline's images, or NOT_TAKEN.
	uint32_t *numbers;
};

static struct imp_error *name_image(struct snapshot *snapshot, const struct image *from,
				    struct snapshot_image *image)
{
	switch (from->kind) {
	case IMAGE_VDSO:
		image->kind = MAPPED_VDSO;
		break;
	case IMAGE_JIT:
		image->kind = MAPPED_JIT;
		break;
	case IMAGE_ANON:
		image->kind = MAPPED_ANON;
		// Names of the recorder's own: there is no such file.
		return from->path[0] == '[' ? snapshot_text(snapshot, from->path, &image->path)
					    : NULL;
	case IMAGE_USER:
		return mapped_name_take(snapshot, from->path, image);
	case IMAGE_SPECIAL:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_MODULE:
	case IMAGE_KINDS:
	default:
		image->kind = MAPPED_SPECIAL;
		break;
	}
	return snapshot_text(snapshot, from->path, &image->path);
}

// The snapshot's number of the timeline's image NUMBER.
static struct imp_error *take_image(struct taker *taker, uint32_t number, uint32_t *ret)
{
	struct snapshot *snapshot = taker->snapshot;
	*ret = taker->numbers[number];
	if (*ret != NOT_TAKEN)
		return NULL;
	const struct image *from = timeline_image(taker->timeline, number);
	*ret = taker->numbers[number] = (uint32_t)snapshot->images.count;
	struct snapshot_image *image = snapshot_add_image(snapshot);
	if (!image)
		return &imp_error_no_memory;
	if (identity_is_usable(from->identity)) {
		image->id = from->id;
		image->id_is_known = true;
	}
	if (from->file.is_known) {
		image->major = from->file.major;
		image->minor = from->file.minor;
		image->inode = from->file.inode;
	}
	struct imp_error *err = name_image(snapshot, from, image);
	if (!err && (image->kind == MAPPED_FILE || image->kind == MAPPED_VDSO))
		err = snapshot_text(snapshot, identity_name(from->identity), &image->identity);
	return err;
}

static struct imp_error *take_mapping(struct taker *taker, const struct stretch *stretch)
{
	uint32_t number;
	struct imp_error *err = take_image(taker, stretch->image, &number);
	if (err)
		return err;
	const struct snapshot_image *image = &taker->snapshot->images.items[number];
	bool has_offset = image->kind == MAPPED_FILE || image->kind == MAPPED_MEMFD;
	struct snapshot_mapping *mapping = snapshot_add_mapping(taker->snapshot);
	if (!mapping)
		return &imp_error_no_memory;
	*mapping = (struct snapshot_mapping){ .start = stretch->start,
					      .size = stretch->end - stretch->start,
					      .offset = has_offset ? stretch->start - stretch->base
								   : 0,
					      .image = number };
	return NULL;
}

static struct imp_error *take_process(struct taker *taker, uint32_t pid)
{
	struct snapshot *snapshot = taker->snapshot;
	struct stretch stretch = { 0 };
	if (!timeline_last_mapping(taker->timeline, pid, MISC_USER, abs_addr_of(0), &stretch))
		return NULL;
	struct snapshot_process *process = snapshot_add_process(snapshot);
	if (!process)
		return &imp_error_no_memory;
	process->pid = pid;
	struct imp_error *err = snapshot_text(
		snapshot, timeline_comm(taker->timeline, pid, pid, UINT64_MAX), &process->comm);
	const struct namespace_set *spaces =
		timeline_namespaces(taker->timeline, pid, pid, UINT64_MAX);
	if (spaces) {
		process->mount_namespace = spaces->kinds[NAMESPACE_MOUNT].inode;
		process->pid_namespace = spaces->kinds[NAMESPACE_PID].inode;
	}
	do {
		if (!err)
			err = take_mapping(taker, &stretch);
	} while (!err && stretch.end &&
		 timeline_last_mapping(taker->timeline, pid, MISC_USER, abs_addr_of(stretch.end),
				       &stretch));
	process->mapping_count = snapshot->mappings.count - process->first_mapping;
	return err;
}

static struct imp_error *add_module(struct taker *taker, uint32_t number,
				    const struct stretch *stretch)
{
	const struct image *from = timeline_image(taker->timeline, number);
	// BPF programs and the like are no modules.
	if (from->kind != IMAGE_MODULE || taker->numbers[number] != NOT_TAKEN)
		return NULL;
	taker->numbers[number] = (uint32_t)taker->snapshot->modules.count;
	struct snapshot_module *module = snapshot_add_module(taker->snapshot);
	if (!module)
		return &imp_error_no_memory;
	if (identity_is_usable(from->identity))
		module->id = from->id;
	module->address = stretch->start;
	module->size = stretch->end - stretch->start;
	char name[256];
	module_name_of(from->path, name, sizeof name);
	return snapshot_text(taker->snapshot, name, &module->name);
}

// Modules that are loaded in the end, in the order of their addresses, then those that were before.
static struct imp_error *take_modules(struct taker *taker)
{
	struct imp_error *err = NULL;
	struct stretch stretch = { 0 };
	while (!err && timeline_last_mapping(taker->timeline, 0, MISC_KERNEL,
					     abs_addr_of(stretch.end), &stretch)) {
		err = add_module(taker, stretch.image, &stretch);
		if (!stretch.end)
			break;
	}
	static const struct stretch nowhere = { 0 };
	size_t count = timeline_image_count(taker->timeline);
	for (uint32_t i = 0; !err && i < count; i++)
		err = add_module(taker, i, &nowhere);
	return err;
}

static void take_kernel(struct taker *taker)
{
	size_t count = timeline_image_count(taker->timeline);
	for (uint32_t i = 0; i < count; i++) {
		const struct image *image = timeline_image(taker->timeline, i);
		if (image->kind == IMAGE_KERNEL && identity_is_usable(image->identity)) {
			taker->snapshot->kernel_id = image->id;
			return;
		}
	}
}

// What was mapped for a while only, and entries of the table of build IDs that belong to nothing
// else.
static struct imp_error *take_other_images(struct taker *taker)
{
	size_t count = timeline_image_count(taker->timeline);
	struct imp_error *err = NULL;
	for (uint32_t i = 0; !err && i < count; i++) {
		const struct image *image = timeline_image(taker->timeline, i);
		uint32_t number;
		if (image->kind == IMAGE_USER || image->kind == IMAGE_VDSO)
			err = take_image(taker, i, &number);
	}
	return err;
}

static uint64_t time_of(const struct recording *recording, uint64_t end_ns)
{
	const struct features *features = recording_features(recording);
	if (features->has_clock_data && end_ns >= features->clock_ns)
		return features->clock_wall_ns + (end_ns - features->clock_ns);
	struct stat stat_of;
	if (stat(recording_path(recording), &stat_of) || !S_ISREG(stat_of.st_mode))
		return 0;
	return (uint64_t)stat_of.st_mtim.tv_sec * 1000000000 + (uint64_t)stat_of.st_mtim.tv_nsec;
}

static struct imp_error *describe(struct snapshot *snapshot, const struct features *features)
{
	struct imp_error *err = snapshot_text(snapshot, features->hostname, &snapshot->host);
	if (!err)
		err = snapshot_text(snapshot, features->arch, &snapshot->architecture);
	return err ? err : snapshot_text(snapshot, features->os_release, &snapshot->kernel_release);
}

static struct imp_error *take_all(struct taker *taker)
{
	take_kernel(taker);
	struct imp_error *err = take_modules(taker);
	uint32_t pid = 0;
	for (size_t at = 0; !err && timeline_next_process(taker->timeline, &at, &pid);)
		err = take_process(taker, pid);
	return err ? err : take_other_images(taker);
}

struct imp_error *recorded_snapshot(const struct recording *recording,
				    const struct timeline *timeline, uint64_t end_ns,
				    struct snapshot **ret)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	size_t count = timeline_image_count(timeline);
	_cleanup_free_ uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
	if (!numbers)
		return &imp_error_no_memory;
	memset(numbers, 0xff, (count + 1) * sizeof *numbers);
	struct imp_error *err = snapshot_new("recording", &snapshot);
	if (!err)
		err = describe(snapshot, recording_features(recording));
	if (err)
		return err;
	snapshot->time_ns = time_of(recording, end_ns);
	struct taker taker = { .timeline = timeline, .snapshot = snapshot, .numbers = numbers };
	err = take_all(&taker);
	if (!err)
		*ret = steal(snapshot);
	return err;
}
