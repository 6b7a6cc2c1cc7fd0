// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Who mapped what, when: processes, their address spaces through time, and the kernel's own map.
#include "timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "timeline/replay.h"

struct timeline {
	struct metas metas;
	struct replay replay;
	// The kernel's owners, asked for often.
	const struct owner *kernel, *modules;
	// From the numbers that images had before identities were bound.
	uint32_t *numbers;
	// Records are dropped once they are replayed.
	bool is_forgetful;
};

struct imp_error *timeline_new(const struct timeline_options *options, struct timeline **ret)
{
	struct timeline *timeline = calloc(1, sizeof *timeline);
	if (!timeline)
		return &imp_error_no_memory;
	timeline->metas.has_no_times = options && options->has_no_times;
	timeline->metas.names = &timeline->replay.names;
	*ret = timeline;
	return NULL;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	metas_fini(&timeline->metas);
	replay_fini(&timeline->replay);
	free(timeline->numbers);
	free(timeline);
}

bool timeline_wants(uint32_t type)
{
	switch (type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_KSYMBOL:
	case RECORD_NAMESPACES:
	case RECORD_CGROUP:
	case RECORD_HEADER_BUILD_ID:
		return true;
	default:
		return false;
	}
}

struct imp_error *timeline_add(struct timeline *timeline, const struct events *events,
			       const struct record *record)
{
	if (!timeline_wants(record->type))
		return NULL;
	struct imp_error *err = metas_add(&timeline->metas, events, record);
	return err ? error_context(err, "%s at offset %llu", record_type_name(record->type),
				   (unsigned long long)record->offset)
		   : NULL;
}

struct imp_error *timeline_add_build_id(struct timeline *timeline,
					const struct build_id_record *entry)
{
	return metas_claim(&timeline->metas, entry);
}

// Code that runs in kernel mode is the kernel's even where no map of it was recorded, as when its
// addresses were hidden from the recorder.
static struct imp_error *add_missing_kernel(struct timeline *timeline)
{
	if (spaces_find_owner(&timeline->replay.spaces, SIDE_KERNEL, 0))
		return NULL;
	static const char name[] = "[kernel.kallsyms]";
	struct image image = { .kind = IMAGE_KERNEL, .identity = IDENTITY_NONE };
	uint32_t number;
	struct images *images = &timeline->metas.images;
	struct imp_error *err = images_text(images, name, strlen(name), &image.path);
	if (!err)
		err = images_intern(images, &image, &number);
	return err ? err : replay_map_kernel(&timeline->replay, number);
}

static void note_kernel(struct timeline *timeline)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	timeline->kernel = spaces_find_owner(spaces, SIDE_KERNEL, 0);
	timeline->modules = spaces_find_owner(spaces, SIDE_MODULES, 0);
}

struct imp_error *timeline_advance(struct timeline *timeline, uint64_t until)
{
	// What came too late makes a new beginning necessary, in the end.
	if (timeline->metas.is_late)
		return NULL;
	metas_sort(&timeline->metas);
	struct imp_error *err = replay_run(&timeline->replay, &timeline->metas, until);
	if (timeline->is_forgetful)
		metas_forget(&timeline->metas);
	if (!err)
		err = add_missing_kernel(timeline);
	note_kernel(timeline);
	return err;
}

void timeline_forget(struct timeline *timeline)
{
	timeline->is_forgetful = true;
}

size_t timeline_waiting(const struct timeline *timeline)
{
	return timeline->metas.all.count - timeline->metas.replayed;
}

size_t timeline_early_count(const struct timeline *timeline)
{
	return timeline->metas.images.all.count;
}

uint32_t timeline_final_number(const struct timeline *timeline, uint32_t early)
{
	return timeline->numbers[early];
}

struct imp_error *timeline_add_code(struct timeline *timeline, const struct generated_code *code)
{
	return metas_add_code(&timeline->metas, code);
}

bool timeline_was_late(const struct timeline *timeline)
{
	return timeline->metas.is_late;
}

// Binds identities, which may make one image of two.
static struct imp_error *bind(struct timeline *timeline)
{
	struct replay *replay = &timeline->replay;
	struct imp_error *err =
		identity_bind(&timeline->metas.images, &timeline->metas.claims, &timeline->numbers);
	for (size_t i = 0; !err && i < replay->mapped.count; i++)
		replay->mapped.items[i].image = timeline->numbers[replay->mapped.items[i].image];
	return err;
}

// What was inferred will be counted again.
static void forget_inferred(struct metas *metas)
{
	for (size_t i = 0; i < metas->images.all.count; i++)
		if (metas->images.all.items[i].image.is_inferred)
			metas->images.all.items[i].mappings = 0;
}

struct imp_error *timeline_finish(struct timeline *timeline)
{
	struct replay *replay = &timeline->replay;
	struct metas *metas = &timeline->metas;
	if (metas->is_late) {
		replay_reset(replay);
		metas->replayed = 0;
		forget_inferred(metas);
	}
	metas_sort(metas);
	struct imp_error *err = replay_run(replay, metas, UINT64_MAX);
	metas_drop_records(metas);
	if (!err)
		err = changes_finish(&replay->comms);
	if (!err)
		err = changes_finish(&replay->namespaces);
	if (!err)
		err = changes_finish(&replay->cgroups);
	if (!err)
		err = add_missing_kernel(timeline);
	if (!err)
		err = spaces_order(&replay->spaces);
	if (!err)
		err = bind(timeline);
	note_kernel(timeline);
	return err;
}

size_t timeline_image_count(const struct timeline *timeline)
{
	return timeline->metas.images.all.count;
}

const struct image *timeline_image(const struct timeline *timeline, uint32_t image)
{
	return &timeline->metas.images.all.items[image].image;
}

uint64_t timeline_image_mappings(const struct timeline *timeline, uint32_t image)
{
	return timeline->metas.images.all.items[image].mappings;
}

// Turns what a space knows into an answer.
static struct stretch answer(const struct timeline *timeline, const struct space_stretch *found)
{
	struct stretch stretch = {
		.start = found->start,
		.end = found->end,
		.from = found->from,
		.to = found->to,
		.image = NO_IMAGE,
		.reason = UNKNOWN_UNMAPPED,
		.mapping = NO_MAPPING,
	};
	if (found->value == NO_VALUE) {
		if (found->is_empty)
			stretch.reason = UNKNOWN_NO_PROCESS;
		return stretch;
	}
	const struct mapped *mapped = &timeline->replay.mapped.items[found->value];
	stretch.base = mapped->base;
	stretch.image = mapped->image;
	stretch.mapping = (uint64_t)found->space << 32 | found->value;
	stretch.reason = KNOWN;
	return stretch;
}

// Where FIRST has nothing, SECOND counts.
static struct stretch either(const struct timeline *timeline, const struct owner *first,
			     const struct owner *second, uint64_t time, uint64_t address)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	struct space_stretch above = spaces_find(spaces, first, time, address);
	if (above.value != NO_VALUE)
		return answer(timeline, &above);
	struct space_stretch below = spaces_find(spaces, second, time, address);
	below.is_empty = below.is_empty && above.is_empty;
	if (above.start > below.start)
		below.start = above.start;
	if (above.end < below.end)
		below.end = above.end;
	if (above.from > below.from)
		below.from = above.from;
	if (above.to < below.to)
		below.to = above.to;
	return answer(timeline, &below);
}

static struct stretch in_kernel(const struct timeline *timeline, uint64_t time, uint64_t address)
{
	return either(timeline, timeline->modules, timeline->kernel, time, address);
}

static struct stretch in_guest_kernel(const struct timeline *timeline, uint32_t pid, uint64_t time,
				      uint64_t address)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	const struct owner *kernel = spaces_find_owner(spaces, SIDE_GUEST_KERNEL, pid);
	// Of a guest that was not told apart.
	if (!kernel) {
		pid = 0;
		kernel = spaces_find_owner(spaces, SIDE_GUEST_KERNEL, pid);
	}
	const struct owner *modules = spaces_find_owner(spaces, SIDE_GUEST_MODULES, pid);
	return either(timeline, modules, kernel, time, address);
}

static struct stretch in_process(const struct timeline *timeline, enum side side, uint32_t pid,
				 uint64_t time, uint64_t address)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	const struct owner *owner = spaces_find_owner(spaces, side, pid);
	struct space_stretch found = spaces_find(spaces, owner, time, address);
	return answer(timeline, &found);
}

// Samples without a mode are of old or foreign recorders: the upper half of addresses is the
// kernel's.
static unsigned known_mode(unsigned cpumode, uint64_t address)
{
	if (cpumode)
		return cpumode;
	return address >> 63 ? MISC_KERNEL : MISC_USER;
}

struct stretch timeline_stretch(const struct timeline *timeline, uint32_t pid, uint64_t time,
				unsigned cpumode, abs_addr address)
{
	switch (known_mode(cpumode, address.value)) {
	case MISC_KERNEL:
	case MISC_HYPERVISOR:
		return in_kernel(timeline, time, address.value);
	case MISC_GUEST_KERNEL:
		return in_guest_kernel(timeline, pid, time, address.value);
	case MISC_GUEST_USER:
		return in_process(timeline, SIDE_GUEST_USER, pid, time, address.value);
	case MISC_USER:
	default:
		return in_process(timeline, SIDE_USER, pid, time, address.value);
	}
}

static struct place place_in(const struct stretch *stretch, abs_addr address)
{
	return (struct place){ stretch->image, stretch->reason,
			       file_off_of(address.value - stretch->base) };
}

struct stretch timeline_find(const struct timeline *timeline, uint32_t pid, uint64_t time,
			     unsigned cpumode, abs_addr address, struct timeline_cache *cache)
{
	unsigned mode = known_mode(cpumode, address.value);
	bool is_kernel = mode == MISC_KERNEL || mode == MISC_HYPERVISOR;
	uint64_t key = (uint64_t)mode << 32 | (is_kernel ? 0 : pid);
	struct timeline_cache_slot *slot =
		&cache->slots[hash_mix(key, address.value >> 14) % TIMELINE_CACHE_SLOTS];
	const struct stretch *known = &slot->stretch;
	if (slot->key == key && address.value >= known->start && address.value < known->end &&
	    time >= known->from && time < known->to)
		return *known;
	*slot = (struct timeline_cache_slot){ key, timeline_stretch(timeline, pid, time, mode,
								    address) };
	return slot->stretch;
}

struct place timeline_locate(const struct timeline *timeline, uint32_t pid, uint64_t time,
			     unsigned cpumode, abs_addr address, struct timeline_cache *cache)
{
	struct stretch stretch = cache ? timeline_find(timeline, pid, time, cpumode, address, cache)
				       : timeline_stretch(timeline, pid, time, cpumode, address);
	return place_in(&stretch, address);
}

bool timeline_next_process(const struct timeline *timeline, size_t *at, uint32_t *pid)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	while (*at < spaces->owners.count) {
		const struct owner *owner = &spaces->owners.items[(*at)++];
		if (owner->side != SIDE_USER || owner->space == NO_SPACE)
			continue;
		*pid = owner->pid;
		return true;
	}
	return false;
}

bool timeline_last_mapping(const struct timeline *timeline, uint32_t pid, unsigned cpumode,
			   abs_addr address, struct stretch *ret)
{
	const struct spaces *spaces = &timeline->replay.spaces;
	const struct owner *owner = cpumode == MISC_KERNEL
					    ? timeline->modules
					    : spaces_find_owner(spaces, SIDE_USER, pid);
	if (!owner || owner->space == NO_SPACE)
		return false;
	const struct range *range = ranges_at_or_after(
		&spaces->ranges, spaces->all.items[owner->space].root, address.value);
	if (!range)
		return false;
	const struct mapped *mapped = &timeline->replay.mapped.items[range->value];
	*ret = (struct stretch){ .start = range->start,
				 .end = range->end,
				 .base = mapped->base,
				 .image = mapped->image,
				 .mapping = NO_MAPPING };
	return true;
}

// What CHANGES tell of a thread, or else of its process.
static uint32_t of_thread(const struct changes *changes, uint32_t pid, uint32_t tid, uint64_t time)
{
	uint32_t value = changes_find(changes, tid, time);
	return value == NOT_SET && tid != pid ? changes_find(changes, pid, time) : value;
}

const char *timeline_comm(const struct timeline *timeline, uint32_t pid, uint32_t tid,
			  uint64_t time)
{
	const struct replay *replay = &timeline->replay;
	uint32_t name = of_thread(&replay->comms, pid, tid, time);
	if (name != NOT_SET)
		return strings_at(&replay->names, name);
	// The idle tasks, of which there is no record.
	return !pid && !tid ? "swapper" : NULL;
}

const struct namespace_set *timeline_namespaces(const struct timeline *timeline, uint32_t pid,
						uint32_t tid, uint64_t time)
{
	uint32_t number = of_thread(&timeline->replay.namespaces, pid, tid, time);
	return number == NOT_SET ? NULL : &timeline->metas.namespaces.all.items[number];
}

const char *timeline_cgroup(const struct timeline *timeline, uint64_t id, uint64_t time)
{
	const struct replay *replay = &timeline->replay;
	uint32_t path = changes_find(&replay->cgroups, id, time);
	return path == NOT_SET ? NULL : strings_at(&replay->names, path);
}
