// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From a core file's segments and notes to a snapshot of one process.
#include "environment/core.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "environment/core_file.h"
#include "environment/mapped_name.h"
#include "model/elf_face.h"

// The image of a loaded file or vdso: its first byte is at `base`.
struct core_image {
	const struct core_file *core;
	uint64_t base;
};

static size_t core_image_read(void *arg, uint64_t offset, void *bytes, size_t size)
{
	const struct core_image *image = arg;
	return core_file_read(image->core, image->base + offset, bytes, size);
}

static void read_face(const struct core_file *core, uint64_t base, struct elf_face *ret)
{
	struct core_image image = { .core = core, .base = base };
	elf_face_read(
		&(struct byte_source){
			.read = core_image_read, .arg = &image, .is_loaded = true, .base = base },
		ret);
}

// Where the image that FILE is a part of begins: at the nearest mapping below of the file's first
// byte.
static const struct core_mapped_file *first_part(const struct core_file *core,
						 const struct core_mapped_file *file)
{
	for (; file >= core->files.items; file--)
		if (!file->offset)
			return file;
	return NULL;
}

static bool is_same_part(const struct core_mapped_file *first, const struct core_mapped_file *file)
{
	return first && !strcmp(first->path, file->path);
}

// What one executable segment maps.
struct found {
	enum mapped_kind kind;
	const char *path;
	// Where its image begins; 0: not to be read.
	uint64_t base;
	uint64_t offset;
};

static struct found look_at(const struct core_file *core, const struct core_segment *segment)
{
	const struct core_mapped_file *file = core_file_mapped(core, segment->start);
	if (file) {
		const struct core_mapped_file *first = first_part(core, file);
		return (struct found){ .kind = MAPPED_FILE,
				       .path = file->path,
				       .base = is_same_part(first, file) ? first->start : 0,
				       .offset = file->offset + (segment->start - file->start) };
	}
	if (core->vdso_address && segment->start == core->vdso_address)
		return (struct found){ .kind = MAPPED_VDSO,
				       .path = "[vdso]",
				       .base = segment->start };
	// The gate area of x86-64 is always there.
	if (segment->start == 0xffffffffff600000 && core->machine == EM_X86_64)
		return (struct found){ .kind = MAPPED_SPECIAL, .path = "[vsyscall]" };
	return (struct found){ .kind = MAPPED_ANON, .path = "" };
}

// What tells images apart: the path as the core's pool has it, and where the image begins.
struct image_key {
	const char *path;
	uint64_t base;
};

// The number of the image that is FOUND: one for each path and base.
static struct imp_error *find_image(struct snapshot *snapshot, const struct core_file *core,
				    const struct found *found, struct image_key **keys,
				    uint32_t *ret)
{
	for (size_t i = 0; i < snapshot->images.count; i++) {
		*ret = (uint32_t)i;
		if ((*keys)[i].base == found->base && (*keys)[i].path == found->path)
			return NULL;
	}
	*ret = (uint32_t)snapshot->images.count;
	struct image_key *grown = reallocarray(*keys, snapshot->images.count + 1, sizeof **keys);
	if (!grown)
		return &imp_error_no_memory;
	*keys = grown;
	grown[snapshot->images.count] = (struct image_key){ found->path, found->base };
	struct snapshot_image *image = snapshot_add_image(snapshot);
	if (!image)
		return &imp_error_no_memory;
	image->kind = found->kind;
	struct imp_error *err = found->kind == MAPPED_FILE
					? mapped_name_take(snapshot, found->path, image)
					: snapshot_text(snapshot, found->path, &image->path);
	if (err || !found->base)
		return err;
	struct elf_face face;
	read_face(core, found->base, &face);
	image->id = face.id;
	image->id_is_known = face.is_elf;
	err = snapshot_text(snapshot, face.soname, &image->soname);
	return err ? err : snapshot_text(snapshot, face.package, &image->package);
}

static struct imp_error *take_mapping(struct snapshot *snapshot, const struct core_file *core,
				      const struct core_segment *segment, struct image_key **keys)
{
	struct found found = look_at(core, segment);
	uint32_t image;
	struct imp_error *err = find_image(snapshot, core, &found, keys, &image);
	if (err)
		return err;
	struct snapshot_mapping *mapping = snapshot_add_mapping(snapshot);
	if (!mapping)
		return &imp_error_no_memory;
	*mapping = (struct snapshot_mapping){ .start = segment->start,
					      .size = segment->memory_size,
					      .offset = found.offset,
					      .image = image };
	return NULL;
}

static int compare_mappings(const void *left, const void *right)
{
	const struct snapshot_mapping *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static struct imp_error *take_mappings(struct snapshot *snapshot, const struct core_file *core,
				       struct image_key **keys)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < core->segments.count; i++)
		if (core->segments.items[i].is_executable)
			err = take_mapping(snapshot, core, &core->segments.items[i], keys);
	// gdb's gcore leaves out the segments of files that were not written to, code among them;
	// what they allowed is not told.
	for (size_t i = 0; !err && i < core->files.count; i++) {
		const struct core_mapped_file *file = &core->files.items[i];
		struct core_segment segment = { .start = file->start,
						.memory_size = file->end - file->start };
		if (!core_file_segment(core, file->start))
			err = take_mapping(snapshot, core, &segment, keys);
	}
	if (snapshot->mappings.count)
		qsort(snapshot->mappings.items, snapshot->mappings.count,
		      sizeof *snapshot->mappings.items, compare_mappings);
	return err;
}

static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return "riscv64";
	case EM_PPC64:
		return "ppc64";
	case EM_S390:
		return "s390x";
	default:
		return "";
	}
}

static struct imp_error *describe(struct snapshot *snapshot, const struct core_file *core)
{
	struct stat stat;
	if (!fstat(core->fd, &stat))
		snapshot->time_ns =
			(uint64_t)stat.st_mtim.tv_sec * 1000000000 + (uint64_t)stat.st_mtim.tv_nsec;
	struct snapshot_process *process = snapshot_add_process(snapshot);
	if (!process)
		return &imp_error_no_memory;
	process->pid = core->pid;
	process->parent = core->parent;
	process->has_uid = true;
	process->uid = core->uid;
	struct imp_error *err = snapshot_text(snapshot, core->comm, &process->comm);
	if (!err)
		err = snapshot_text(snapshot, core->command, &process->command);
	return err ? err
		   : snapshot_text(snapshot, machine_name(core->machine), &snapshot->architecture);
}

struct imp_error *core_snapshot(const char *path, struct snapshot **ret)
{
	_cleanup_core_file_ struct core_file core;
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	_cleanup_free_ struct image_key *keys = NULL;
	struct imp_error *err = core_file_open(path, &core);
	if (!err)
		err = snapshot_new("core", &snapshot);
	if (!err)
		err = describe(snapshot, &core);
	if (!err)
		err = take_mappings(snapshot, &core, &keys);
	if (err)
		return err;
	snapshot->processes.items[0].mapping_count = snapshot->mappings.count;
	*ret = steal(snapshot);
	return NULL;
}

bool core_is_file(const char *path)
{
	_cleanup_core_file_ struct core_file core;
	struct imp_error *err = core_file_open(path, &core);
	imp_error_free(err);
	return !err;
}

struct imp_error *core_read_memory(const char *path, uint64_t start, uint64_t size,
				   struct buffer *ret)
{
	enum { MOST_BYTES = 64 << 20 };
	_cleanup_core_file_ struct core_file core;
	struct imp_error *err = core_file_open(path, &core);
	if (err)
		return err;
	if (size > MOST_BYTES)
		size = MOST_BYTES;
	uint8_t *bytes = buffer_extend(ret, (size_t)size);
	if (!bytes)
		return &imp_error_no_memory;
	size_t got = core_file_read(&core, start, bytes, (size_t)size);
	ret->size -= (size_t)size - got;
	return NULL;
}
