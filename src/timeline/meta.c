// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The meta records of a recording, kept small until all are there and can be put in order.
#include "timeline/meta.h"

#include <stdlib.h>
#include <string.h>

// When and by whom a record was made.
struct stamp {
	uint64_t time;
	// Made by the recorder, not by the kernel as it happened.
	bool is_synthesized;
};

void metas_drop_records(struct metas *metas)
{
	array_fini(&metas->all);
	array_fini(&metas->extents);
	array_fini(&metas->cgroups);
	metas->replayed = 0;
}

void metas_fini(struct metas *metas)
{
	metas_drop_records(metas);
	images_fini(&metas->images);
	array_fini(&metas->claims.all);
	namespace_sets_fini(&metas->namespaces);
}

static struct stamp stamp_of(const struct metas *metas, const struct events *events,
			     const struct record *record)
{
	struct sample_id id;
	sample_id_read(events, record, &id);
	if (metas->has_no_times)
		return (struct stamp){ record->position + 1, id.id == 0 };
	bool is_synthesized = !id.has_time || id.time == 0 || id.time == UINT64_MAX;
	return (struct stamp){ is_synthesized ? 0 : id.time, is_synthesized };
}

// Adds a record of KIND at the time of STAMP; the rest is the caller's to fill. NULL without
// memory.
static struct meta *add(struct metas *metas, enum meta_kind kind, const struct stamp *stamp)
{
	if (metas->added >= UINT32_MAX - 1)
		return NULL;
	struct meta *meta = array_add(&metas->all);
	if (!meta)
		return NULL;
	meta->kind = (uint8_t)kind;
	meta->time = stamp->time;
	meta->order = ++metas->added;
	meta->is_unordered = stamp->is_synthesized || metas->has_no_times;
	metas->is_late = metas->is_late || meta->time < metas->replayed_until;
	return meta;
}

static enum side side_of(enum image_kind kind, unsigned cpumode)
{
	switch (kind) {
	case IMAGE_KERNEL:
		return SIDE_KERNEL;
	case IMAGE_MODULE:
		return SIDE_MODULES;
	case IMAGE_GUEST_KERNEL:
		return SIDE_GUEST_KERNEL;
	case IMAGE_GUEST_MODULE:
		return SIDE_GUEST_MODULES;
	case IMAGE_USER:
	case IMAGE_VDSO:
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default:
		break;
	}
	if (cpumode == MISC_KERNEL || cpumode == MISC_HYPERVISOR)
		return SIDE_MODULES;
	if (cpumode == MISC_GUEST_KERNEL)
		return SIDE_GUEST_MODULES;
	return cpumode == MISC_GUEST_USER ? SIDE_GUEST_USER : SIDE_USER;
}

// The host's kernel is recorded for process -1 or 0; a guest's for the process that runs it.
static uint32_t owner_pid(enum side side, uint32_t pid)
{
	switch (side) {
	case SIDE_KERNEL:
	case SIDE_MODULES:
		return 0;
	case SIDE_GUEST_KERNEL:
	case SIDE_GUEST_MODULES:
		return pid == UINT32_MAX ? 0 : pid;
	case SIDE_USER:
	case SIDE_GUEST_USER:
	default:
		return pid;
	}
}

static uint64_t saturated_end(uint64_t start, uint64_t length)
{
	uint64_t end;
	return __builtin_add_overflow(start, length, &end) ? UINT64_MAX : end;
}

static struct imp_error *add_extent(struct metas *metas, struct meta *meta,
				    const struct extent *wanted)
{
	struct extent *extent = array_add(&metas->extents);
	if (!extent)
		return &imp_error_no_memory;
	*extent = *wanted;
	meta->value = (uint32_t)metas->extents.count - 1;
	return NULL;
}

// "[kernel.kallsyms]_text" is the kernel's name and the symbol whose address the page offset is.
static struct imp_error *name_kernel(struct images *images, const char *path, struct image *image)
{
	const char *end = path[0] == '[' ? strchr(path, ']') : NULL;
	size_t length = end ? (size_t)(end - path) + 1 : strlen(path);
	if (path[length]) {
		struct imp_error *err = images_text(images, path + length, strlen(path + length),
						    &image->reference_symbol);
		if (err)
			return err;
	}
	return images_text(images, path, length, &image->path);
}

// A device of Linux has 12 bits of major and 20 of minor number: simpleperf leaves these fields as
// they were in its memory.
static bool is_file_key(const struct mmap_record *mmap)
{
	return mmap->has_inode && mmap->inode && mmap->major < 1 << 12 && mmap->minor < 1 << 20;
}

static struct imp_error *image_of(struct metas *metas, const struct mmap_record *mmap,
				  const struct stamp *stamp, struct image *image)
{
	image->id = mmap->id;
	image->identity = IDENTITY_NONE;
	if (!build_id_is_none(&mmap->id))
		image->identity = stamp->is_synthesized ? IDENTITY_SYNTHESIZED : IDENTITY_MAP_TIME;
	if (image->kind == IMAGE_ANON)
		image->pid = mmap->pid;
	if (image->kind == IMAGE_GUEST_KERNEL || image->kind == IMAGE_GUEST_MODULE)
		image->pid = owner_pid(SIDE_GUEST_KERNEL, mmap->pid);
	if (image->kind == IMAGE_USER && is_file_key(mmap))
		image->file = (struct file_key){ mmap->major, mmap->minor, mmap->inode,
						 mmap->generation, true };
	if (image->kind != IMAGE_KERNEL && image->kind != IMAGE_GUEST_KERNEL)
		return images_text(&metas->images, mmap->path, strlen(mmap->path), &image->path);
	image->reference_address = mmap->page_offset;
	return name_kernel(&metas->images, mmap->path, image);
}

static uint64_t base_of(const struct mmap_record *mmap, enum image_kind kind)
{
	switch (kind) {
	case IMAGE_USER:
		return mmap->start - mmap->page_offset;
	case IMAGE_KERNEL:
	case IMAGE_GUEST_KERNEL:
		return mmap->page_offset;
	case IMAGE_MODULE:
	case IMAGE_GUEST_MODULE:
	case IMAGE_VDSO:
		return mmap->start;
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default:
		return 0;
	}
}

static struct imp_error *add_mmap(struct metas *metas, const struct record *record,
				  const struct stamp *stamp)
{
	struct mmap_record mmap;
	struct imp_error *err = mmap_record_read(record, &mmap);
	if (err)
		return err;
	unsigned cpumode = record->misc & MISC_CPUMODE_MASK;
	struct image image = { .kind = image_kind_of(mmap.path, cpumode) };
	// Copies of the entry code for page-table isolation, which Linux 4.15 to 4.20 map for each
	// processor: kernel code at other addresses.
	if (image.kind == IMAGE_KERNEL && !strncmp(mmap.path, "__entry", strlen("__entry")))
		image.kind = IMAGE_SPECIAL;
	struct extent extent = { .start = mmap.start,
				 .end = saturated_end(mmap.start, mmap.length),
				 .base = base_of(&mmap, image.kind) };
	enum side side = side_of(image.kind, cpumode);
	// A kernel of which nothing is told but that it is there.
	if (side == SIDE_KERNEL && !mmap.start && !mmap.length)
		extent.end = UINT64_MAX;
	err = image_of(metas, &mmap, stamp, &image);
	if (!err)
		err = images_intern(&metas->images, &image, &extent.image);
	if (err)
		return err;
	metas->images.all.items[extent.image].mappings++;
	if (extent.start >= extent.end)
		return NULL;
	struct meta *meta = add(metas, META_MAP, stamp);
	if (!meta)
		return &imp_error_no_memory;
	meta->side = (uint8_t)side;
	meta->pid = owner_pid(side, mmap.pid);
	meta->tid = mmap.tid;
	return add_extent(metas, meta, &extent);
}

static struct imp_error *add_comm(struct metas *metas, const struct record *record,
				  const struct stamp *stamp)
{
	struct comm_record comm;
	uint32_t name;
	struct imp_error *err = comm_record_read(record, &comm);
	if (!err)
		err = strings_intern(metas->names, comm.comm, strlen(comm.comm), &name);
	if (err)
		return err;
	bool is_exec = comm.is_exec && (!stamp->is_synthesized || metas->has_no_times);
	struct meta *meta = add(metas, is_exec ? META_EXEC : META_COMM, stamp);
	if (!meta)
		return &imp_error_no_memory;
	meta->pid = comm.pid;
	meta->tid = comm.tid;
	meta->value = name;
	return NULL;
}

static struct imp_error *add_task(struct metas *metas, const struct record *record,
				  const struct stamp *stamp)
{
	struct task_record task;
	struct imp_error *err = task_record_read(record, &task);
	if (err)
		return err;
	struct stamp own = *stamp;
	// The body has a time, too. perf leaves it 0 in what it synthesizes.
	if (metas->has_no_times)
		own.is_synthesized = task.time == 0;
	else if (own.is_synthesized && task.time && task.time != UINT64_MAX)
		own = (struct stamp){ task.time, false };
	if (record->type == RECORD_EXIT && own.is_synthesized)
		return NULL;
	struct meta *meta = add(metas, record->type == RECORD_FORK ? META_FORK : META_EXIT, &own);
	if (!meta)
		return &imp_error_no_memory;
	meta->is_unordered = own.is_synthesized;
	meta->pid = task.pid;
	meta->tid = task.tid;
	meta->parent_pid = task.parent_pid;
	meta->value = task.parent_tid;
	return NULL;
}

// Code that the kernel made or loaded by itself: BPF programs, trampolines, probes out of line.
static struct imp_error *add_ksymbol(struct metas *metas, const struct record *record,
				     const struct stamp *stamp)
{
	struct ksymbol_record symbol;
	struct imp_error *err = ksymbol_record_read(record, &symbol);
	if (err || !symbol.length)
		return err;
	struct extent extent = { .start = symbol.start,
				 .end = saturated_end(symbol.start, symbol.length) };
	if (!symbol.is_unregister) {
		struct image image = { .kind = IMAGE_JIT, .identity = IDENTITY_NONE };
		err = images_text(&metas->images, symbol.name, strlen(symbol.name), &image.path);
		if (!err)
			err = images_intern(&metas->images, &image, &extent.image);
		if (err)
			return err;
		metas->images.all.items[extent.image].mappings++;
	}
	struct meta *meta = add(metas, symbol.is_unregister ? META_UNMAP : META_MAP, stamp);
	if (!meta)
		return &imp_error_no_memory;
	meta->side = SIDE_MODULES;
	// A symbol's size is its own: it is not to be cut by what stands behind it.
	meta->is_unordered = false;
	return add_extent(metas, meta, &extent);
}

struct imp_error *metas_add_code(struct metas *metas, const struct generated_code *code)
{
	struct stamp stamp = { .time = code->time_ns };
	struct image image = { .kind = IMAGE_JIT, .identity = IDENTITY_NONE, .pid = code->pid };
	struct extent extent = { .start = code->start,
				 .end = saturated_end(code->start, code->size),
				 .base = code->start - code->offset };
	struct imp_error *err =
		images_text(&metas->images, code->path, strlen(code->path), &image.path);
	if (!err)
		err = images_intern(&metas->images, &image, &extent.image);
	if (err || extent.start >= extent.end)
		return err;
	metas->images.all.items[extent.image].mappings++;
	struct meta *meta = add(metas, META_MAP, &stamp);
	if (!meta)
		return &imp_error_no_memory;
	meta->side = SIDE_USER;
	meta->pid = code->pid;
	meta->tid = code->pid;
	return add_extent(metas, meta, &extent);
}

static struct imp_error *add_namespaces(struct metas *metas, const struct record *record,
					const struct stamp *stamp)
{
	struct namespaces_record namespaces;
	struct namespace_set set = { 0 };
	uint32_t number;
	struct imp_error *err = namespaces_record_read(record, &namespaces);
	if (err)
		return err;
	// Kinds that this build does not know stand behind those that it does.
	for (unsigned i = 0; i < NAMESPACE_KINDS; i++)
		namespaces_record_at(&namespaces, i, &set.kinds[i].device, &set.kinds[i].inode);
	err = namespace_sets_intern(&metas->namespaces, &set, &number);
	struct meta *meta = err ? NULL : add(metas, META_NAMESPACES, stamp);
	if (!meta)
		return err ? err : &imp_error_no_memory;
	meta->pid = namespaces.pid;
	meta->tid = namespaces.tid;
	meta->value = number;
	return NULL;
}

static struct imp_error *add_cgroup(struct metas *metas, const struct record *record,
				    const struct stamp *stamp)
{
	struct cgroup_record cgroup;
	uint32_t path;
	struct imp_error *err = cgroup_record_read(record, &cgroup);
	if (!err)
		err = strings_intern(metas->names, cgroup.path, strlen(cgroup.path), &path);
	struct cgroup_name *name = err ? NULL : array_add(&metas->cgroups);
	struct meta *meta = name ? add(metas, META_CGROUP, stamp) : NULL;
	if (!meta)
		return err ? err : &imp_error_no_memory;
	*name = (struct cgroup_name){ cgroup.id, path };
	meta->value = (uint32_t)metas->cgroups.count - 1;
	return NULL;
}

struct imp_error *metas_claim(struct metas *metas, const struct build_id_record *entry)
{
	struct claim *claim = array_add(&metas->claims.all);
	if (!claim)
		return &imp_error_no_memory;
	claim->id = entry->id;
	claim->is_padded = entry->is_padded;
	claim->kind = image_kind_of(entry->path, entry->misc & MISC_CPUMODE_MASK);
	return images_text(&metas->images, entry->path, strlen(entry->path), &claim->path);
}

struct imp_error *metas_add(struct metas *metas, const struct events *events,
			    const struct record *record)
{
	if (record->type == RECORD_HEADER_BUILD_ID) {
		struct build_id_record entry;
		struct imp_error *err = build_id_record_read(record, &entry);
		return err ? err : metas_claim(metas, &entry);
	}
	struct stamp stamp = stamp_of(metas, events, record);
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return add_mmap(metas, record, &stamp);
	case RECORD_COMM:
		return add_comm(metas, record, &stamp);
	case RECORD_FORK:
	case RECORD_EXIT:
		return add_task(metas, record, &stamp);
	case RECORD_KSYMBOL:
		return add_ksymbol(metas, record, &stamp);
	case RECORD_NAMESPACES:
		return add_namespaces(metas, record, &stamp);
	case RECORD_CGROUP:
		return add_cgroup(metas, record, &stamp);
	default:
		return NULL;
	}
}

static int compare(const void *one, const void *other)
{
	const struct meta *a = one;
	const struct meta *b = other;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void metas_sort(struct metas *metas)
{
	size_t sorted = metas->replayed + 1;
	while (sorted < metas->all.count &&
	       metas->all.items[sorted - 1].time <= metas->all.items[sorted].time)
		sorted++;
	if (sorted < metas->all.count)
		qsort(metas->all.items + metas->replayed, metas->all.count - metas->replayed,
		      sizeof *metas->all.items, compare);
}

void metas_forget(struct metas *metas)
{
	size_t kept = metas->all.count - metas->replayed;
	memmove(metas->all.items, metas->all.items + metas->replayed,
		kept * sizeof *metas->all.items);
	metas->all.count = kept;
	metas->replayed = 0;
	// Extents were added in an order that sorting has changed since.
	uint32_t first = UINT32_MAX;
	for (size_t i = 0; i < kept; i++) {
		const struct meta *meta = &metas->all.items[i];
		if ((meta->kind == META_MAP || meta->kind == META_UNMAP) && meta->value < first)
			first = meta->value;
	}
	if (first > metas->extents.count)
		first = (uint32_t)metas->extents.count;
	for (size_t i = 0; i < kept; i++) {
		struct meta *meta = &metas->all.items[i];
		if (meta->kind == META_MAP || meta->kind == META_UNMAP)
			meta->value -= first;
	}
	metas->extents.count -= first;
	memmove(metas->extents.items, metas->extents.items + first,
		metas->extents.count * sizeof *metas->extents.items);
}
