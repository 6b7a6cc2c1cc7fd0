// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Taking in what runs: the files that a process has mapped, and the kernel's account of itself.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "find/intake.h"
#include "live/kernel.h"
#include "live/maps.h"
#include "live/memory.h"
#include "model/image.h"

enum { MOST_KERNEL_TEXT = 256 << 20 };

static void count(struct intake_counts *counts, enum intake_outcome outcome)
{
	counts->added += outcome == INTAKE_ADDED;
	counts->known += outcome == INTAKE_KNOWN;
	counts->no_image += outcome == INTAKE_NO_IMAGE;
}

static struct imp_error *take_file(const struct intake *intake, struct process_view *view,
				   const struct mapped_file *file, const struct mapping *mapping,
				   struct intake_counts *counts)
{
	_cleanup_close_ int fd = mapped_file_open(view, file, mapping->start, mapping->end);
	if (fd < 0) {
		log_message(intake->log, LOG_WARNING, "%s: no way leads to the mapped file",
			    file->path);
		counts->unreadable++;
		return NULL;
	}
	enum intake_outcome outcome;
	struct imp_error *err = intake_fd(intake, fd, file->path, &outcome);
	if (!err)
		count(counts, outcome);
	return err;
}

static struct imp_error *take_memory(const struct intake *intake, const struct buffer *bytes,
				     const char *name, enum store_role role,
				     struct intake_counts *counts)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open_memory(bytes->bytes, bytes->size, name, &image);
	if (err)
		return err;
	struct store_item item = { .path = name };
	intake_describe_image(image, &item);
	item.role = role;
	counts->added++;
	return store_batch_add_memory(intake->batch, &item, bytes->bytes, bytes->size);
}

static struct imp_error *take_vdso(const struct intake *intake, const struct proc *proc,
				   uint32_t pid, const struct mapping *mapping,
				   struct intake_counts *counts)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = process_vdso_read(proc, pid, mapping->start, mapping->end, &bytes);
	if (!err && !bytes.size) {
		counts->unreadable++;
		return NULL;
	}
	return err ? err : take_memory(intake, &bytes, "[vdso]", STORE_VDSO, counts);
}

static struct imp_error *take_mappings(const struct intake *intake, const struct proc *proc,
				       uint32_t pid, struct mapped_files *files,
				       const struct mappings *mappings,
				       struct intake_counts *counts)
{
	struct process_view view = process_view_of(proc, pid);
	_cleanup_free_ bool *taken = calloc(mapped_files_count(files) + 1, sizeof *taken);
	struct imp_error *err = taken ? NULL : &imp_error_no_memory;
	for (size_t i = 0; !err && i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->items[i];
		const struct mapped_file *file = mapped_files_at(files, mapping->file);
		if (taken[mapping->file])
			continue;
		taken[mapping->file] = true;
		if (file->kind == MAPPED_FILE || file->kind == MAPPED_MEMFD)
			err = take_file(intake, &view, file, mapping, counts);
		else if (file->kind == MAPPED_VDSO)
			err = take_vdso(intake, proc, pid, mapping, counts);
	}
	return err;
}

struct imp_error *intake_process(const struct intake *intake, uint32_t pid,
				 struct intake_counts *counts, bool *found)
{
	_cleanup_(cleanup_proc) struct proc *proc = NULL;
	_cleanup_(cleanup_mapped_files) struct mapped_files *files = NULL;
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = mapped_files_new(MAPPED_WITHOUT_IDS, &files);
	struct mappings mappings = { 0 };
	enum proc_outcome outcome = PROC_READ;
	if (!err)
		err = maps_read(proc, pid, NULL, files, &mappings, &outcome);
	if (!err && outcome == PROC_FORBIDDEN)
		err = error_new(IMP_ERR_SYSTEM, "process %u: not allowed to see its mappings", pid);
	if (!err) {
		*found = outcome == PROC_READ;
		err = take_mappings(intake, proc, pid, files, &mappings, counts);
	}
	mappings_fini(&mappings);
	return err;
}

static struct imp_error *take_text(const struct intake *intake, const struct build_id *id,
				   const char *file, enum store_role role, const char *name,
				   struct intake_counts *counts)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	_cleanup_error_ struct imp_error *err = file_slurp_path(file, MOST_KERNEL_TEXT, &text);
	// A kernel without modules has no list of them.
	if (err || !text.size) {
		log_message(intake->log, LOG_NOTE, "%s", err ? imp_error_message(err) : file);
		return NULL;
	}
	struct store_item item = { .id = *id, .role = role, .path = name };
	counts->added++;
	return store_batch_add_memory(intake->batch, &item, text.bytes, text.size);
}

// Takes FILE in when its own build ID is ID; kernels and modules are often compressed, so the ID
// may need unpacking.
static struct imp_error *take_if_right(const struct intake *intake, const char *file,
				       const struct build_id *id, struct intake_counts *counts)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct stat stat;
	if (!fstat(fd, &stat) && store_knows_path(intake->store, file, &stat)) {
		counts->known++;
		return NULL;
	}
	_cleanup_elf_image_ struct elf_image *image = NULL;
	_cleanup_error_ struct imp_error *unreadable = elf_image_open(file, &image);
	if (unreadable || !build_id_equal(elf_image_id(image), id)) {
		log_message(intake->log, LOG_DEBUG, "%s: %s", file,
			    unreadable ? imp_error_message(unreadable) : "another build");
		return NULL;
	}
	enum intake_outcome outcome;
	struct intake packed = *intake;
	packed.unpacks_all = true;
	struct imp_error *err = intake_fd(&packed, fd, file, &outcome);
	if (!err)
		count(counts, outcome);
	return err;
}

static struct imp_error *take_kernel_files(const struct intake *intake, const struct kernel *kernel,
					   struct intake_counts *counts)
{
	static const char *const places[] = {
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
		"/lib/modules/%s/vmlinux",
		"/boot/vmlinuz-%s",
		"/lib/modules/%s/vmlinuz",
	};
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < sizeof places / sizeof *places; i++) {
		char file[256];
		const char *mark = strstr(places[i], "%s");
		(void)snprintf(file, sizeof file, "%.*s%s%s", (int)(mark - places[i]), places[i],
			       kernel->release, mark + 2);
		err = take_if_right(intake, file, &kernel->id, counts);
	}
	return err;
}

static const struct kernel_module *module_of(const struct kernel_modules *modules, const char *file)
{
	char name[64];
	if (image_kind_of(file, 1) != IMAGE_MODULE)
		return NULL;
	module_name_of(file, name, sizeof name);
	for (size_t i = 0; i < modules->count; i++)
		if (!strcmp(modules->items[i].name, name))
			return &modules->items[i];
	return NULL;
}

static struct imp_error *take_modules(const struct intake *intake, const struct kernel *kernel,
				      const struct kernel_modules *modules,
				      struct intake_counts *counts)
{
	char dir[192];
	(void)snprintf(dir, sizeof dir, "/lib/modules/%s", kernel->release);
	char *roots[] = { dir, NULL };
	FTS *walk = modules->count ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	struct imp_error *err = NULL;
	for (FTSENT *file; walk && !err && (file = fts_read(walk));) {
		const struct kernel_module *module =
			file->fts_info == FTS_F ? module_of(modules, file->fts_path) : NULL;
		if (module && !build_id_is_none(&module->id))
			err = take_if_right(intake, file->fts_path, &module->id, counts);
	}
	if (walk)
		(void)fts_close(walk);
	return err;
}

struct imp_error *intake_kernel(const struct intake *intake, struct intake_counts *counts)
{
	_cleanup_(cleanup_proc) struct proc *proc = NULL;
	struct imp_error *err = proc_open(NULL, &proc);
	struct kernel kernel = { 0 };
	struct kernel_text text = { 0 };
	struct kernel_modules modules = { 0 };
	if (!err)
		err = kernel_read(proc, NULL, &kernel);
	if (!err && build_id_is_none(&kernel.id))
		err = error_new(IMP_ERR_UNSUPPORTED, "/sys/kernel/notes tells no build ID");
	if (!err)
		err = kernel_text_read(proc, false, &text);
	if (!err && !text.reference_address)
		log_message(intake->log, LOG_WARNING,
			    "kallsyms: the kernel hides its addresses (kernel.kptr_restrict)");
	else if (!err)
		err = take_text(intake, &kernel.id, "/proc/kallsyms", STORE_KALLSYMS,
				"[kernel.kallsyms]", counts);
	if (!err && text.reference_address)
		err = take_text(intake, &kernel.id, "/proc/modules", STORE_MODULES,
				"[kernel.kallsyms]", counts);
	if (!err)
		err = take_text(intake, &kernel.id, "/sys/kernel/notes", STORE_KCORE_NOTES,
				"[kernel.kallsyms]", counts);
	if (!err)
		err = take_kernel_files(intake, &kernel, counts);
	if (!err)
		err = kernel_modules_read(proc, NULL, &modules);
	if (!err)
		err = take_modules(intake, &kernel, &modules, counts);
	kernel_modules_fini(&modules);
	return err;
}
