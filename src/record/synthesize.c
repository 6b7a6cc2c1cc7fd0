// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// /proc as records.
#include "record/synthesize.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/process.h"

enum { HOST_KERNEL = UINT32_MAX };

struct synthesizer {
	struct synthesize_options options;
	struct mapped_files *files;
	uint64_t namespace_device;
	size_t forbidden;
};

void synthesizer_free(struct synthesizer *synthesizer)
{
	if (!synthesizer)
		return;
	mapped_files_free(synthesizer->files);
	free(synthesizer);
}

// The kernel's file system of namespaces, of which all of them are.
static uint64_t namespace_device(const struct proc *proc)
{
	struct stat stat;
	return fstatat(proc->fd, "self/ns/mnt", &stat, 0) ? 0 : stat.st_dev;
}

struct imp_error *synthesizer_new(const struct synthesize_options *options,
				  struct synthesizer **ret)
{
	struct synthesizer *synthesizer = calloc(1, sizeof *synthesizer);
	if (!synthesizer)
		return &imp_error_no_memory;
	synthesizer->options = *options;
	synthesizer->namespace_device = namespace_device(options->proc);
	struct imp_error *err = mapped_files_new(0, &synthesizer->files);
	if (err) {
		free(synthesizer);
		return err;
	}
	*ret = synthesizer;
	return NULL;
}

struct imp_error *synthesize_kernel(struct synthesizer *synthesizer, struct kernel *kernel,
				    struct kernel_text *text, struct buffer *ret)
{
	struct imp_error *err = kernel_read(synthesizer->options.proc, NULL, kernel);
	if (!err)
		err = kernel_text_read(synthesizer->options.proc, true, text);
	if (err)
		return err;
	const char *symbol = text->reference_symbol ? text->reference_symbol : "_text";
	char path[64];
	snprintf(path, sizeof path, "[kernel.kallsyms]%s", symbol);
	// With hidden addresses the upper half stands for the kernel, and offset 0 says that its
	// place in it is not known.
	struct mmap_record mmap = { .pid = HOST_KERNEL,
				    .start = text->start ? text->start : UINT64_C(1) << 63,
				    .page_offset = text->reference_address,
				    .id = kernel->id,
				    .path = path };
	mmap.length = text->end > mmap.start ? text->end - mmap.start : UINT64_MAX - mmap.start;
	record_build_mmap(ret, &mmap, MISC_KERNEL, NULL);
	return ret->failed ? &imp_error_no_memory : NULL;
}

void synthesize_module(const struct kernel_module *module, const struct stamp *stamp,
		       struct buffer *ret)
{
	char path[sizeof module->name + 2];
	snprintf(path, sizeof path, "[%s]", module->name);
	struct mmap_record mmap = { .pid = HOST_KERNEL,
				    .start = module->address,
				    .length = module->size,
				    .id = module->id,
				    .path = path };
	if (module->address)
		record_build_mmap(ret, &mmap, MISC_KERNEL, stamp);
}

static void put_task(const struct process *process, uint32_t pid, uint32_t tid, struct buffer *ret)
{
	struct task_record fork = { .pid = pid,
				    .tid = tid,
				    .parent_pid = tid == pid ? process->parent : pid,
				    .parent_tid = tid == pid ? process->parent : pid };
	struct comm_record comm = { .pid = pid, .tid = tid, .comm = process->comm };
	record_build_task(ret, RECORD_FORK, &fork, NULL);
	record_build_comm(ret, &comm, NULL);
}

// The links are read, not followed: that costs half as much ("mnt:[4026531841]").
static uint64_t namespace_inode(int dir, const char *name)
{
	char text[64];
	ssize_t length = readlinkat(dir, name, text, sizeof text - 1);
	if (length <= 0)
		return 0;
	text[length] = 0;
	const char *open = strchr(text, '[');
	return open ? strtoull(open + 1, NULL, 10) : 0;
}

static void put_namespaces(const struct synthesizer *synthesizer, uint32_t pid, struct buffer *ret)
{
	static const char *const names[NAMESPACE_LINKS] = { "net",  "uts", "ipc",   "pid",
							    "user", "mnt", "cgroup" };
	struct namespace_link links[NAMESPACE_LINKS] = { 0 };
	bool is_any = false;
	char path[32];
	snprintf(path, sizeof path, "%u/ns", pid);
	_cleanup_close_ int dir =
		openat(synthesizer->options.proc->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; dir >= 0 && i < NAMESPACE_LINKS; i++) {
		uint64_t inode = namespace_inode(dir, names[i]);
		if (!inode)
			continue;
		links[i] = (struct namespace_link){ synthesizer->namespace_device, inode };
		is_any = true;
	}
	if (is_any)
		record_build_namespaces(ret, pid, pid, links, NULL);
}

void recorded_path(const struct mapped_file *file, char path[RECORDED_PATH_ROOM])
{
	switch (file->kind) {
	case MAPPED_MEMFD:
		snprintf(path, RECORDED_PATH_ROOM, "/memfd:%s (deleted)", file->path);
		break;
	case MAPPED_ANON:
		snprintf(path, RECORDED_PATH_ROOM, "//anon");
		break;
	case MAPPED_FILE:
	case MAPPED_JIT:
	case MAPPED_SHARED_MEMORY:
	case MAPPED_VDSO:
	case MAPPED_SPECIAL:
	case MAPPED_KINDS:
	default:
		snprintf(path, RECORDED_PATH_ROOM, "%s%s", file->path,
			 file->is_deleted ? " (deleted)" : "");
	}
}

static void put_mapping(uint32_t pid, const struct mapped_file *file, const struct mapping *mapping,
			struct buffer *ret)
{
	char path[RECORDED_PATH_ROOM];
	recorded_path(file, path);
	bool is_anonymous = file->kind == MAPPED_ANON;
	struct mmap_record mmap = { .pid = pid,
				    .tid = pid,
				    .start = mapping->start,
				    .length = mapping->end - mapping->start,
				    .page_offset = is_anonymous ? mapping->start : mapping->offset,
				    .id = file->id,
				    .major = file->key.major,
				    .minor = file->key.minor,
				    .inode = file->key.inode,
				    .is_data = !(mapping->protection & PROT_EXEC),
				    .prot = mapping->protection,
				    .flags = mapping->is_shared ? MAP_SHARED : MAP_PRIVATE,
				    .path = path };
	record_build_mmap(ret, &mmap, MISC_USER, NULL);
}

static struct imp_error *put_mappings(struct synthesizer *synthesizer, uint32_t pid,
				      struct buffer *ret)
{
	const struct synthesize_options *options = &synthesizer->options;
	struct maps_options maps_options = { .all = options->with_data };
	_cleanup_mappings_ struct mappings mappings = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = maps_read(options->proc, pid, &maps_options, synthesizer->files,
					  &mappings, &outcome);
	if (err)
		return err;
	synthesizer->forbidden += outcome == PROC_FORBIDDEN;
	struct process_view view = process_view_of(options->proc, pid);
	for (size_t i = 0; i < mappings.count; i++) {
		const struct mapping *mapping = &mappings.items[i];
		const struct mapped_file *file = mapped_files_at(synthesizer->files, mapping->file);
		put_mapping(pid, file, mapping, ret);
		if (options->see && mapping->protection & PROT_EXEC)
			options->see(options->see_arg, &view, file, mapping);
	}
	return NULL;
}

struct imp_error *synthesize_process(struct synthesizer *synthesizer, uint32_t pid,
				     struct buffer *ret)
{
	const struct proc *proc = synthesizer->options.proc;
	_cleanup_pids_ struct pids threads = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = process_threads(proc, pid, &threads, &outcome);
	bool is_kernel_thread = false;
	for (size_t i = 0; !err && i < threads.count; i++) {
		struct process process;
		uint32_t tid = threads.items[i];
		if (process_read(proc, pid, tid, &process) != PROC_READ)
			continue;
		put_task(&process, pid, tid, ret);
		is_kernel_thread |= process.is_kernel_thread;
		if (tid == pid && synthesizer->options.with_namespaces)
			put_namespaces(synthesizer, pid, ret);
	}
	if (!err && threads.count && !is_kernel_thread)
		err = put_mappings(synthesizer, pid, ret);
	return !err && ret->failed ? &imp_error_no_memory : err;
}

struct imp_error *synthesize_before_exec(struct synthesizer *synthesizer, uint32_t pid,
					 struct buffer *ret)
{
	struct process process;
	if (process_read(synthesizer->options.proc, pid, pid, &process) == PROC_READ)
		put_task(&process, pid, pid, ret);
	return ret->failed ? &imp_error_no_memory : NULL;
}

// The process of a thread; 0 when it has ended.
static uint32_t process_of(const struct proc *proc, uint32_t tid)
{
	char text[4096];
	if (!proc_text(proc, text, sizeof text, "%u/status", tid))
		return 0;
	const char *line = strstr(text, "\nTgid:");
	return line ? (uint32_t)strtoul(line + strlen("\nTgid:"), NULL, 10) : 0;
}

static bool is_among(const struct pids *pids, uint32_t pid)
{
	for (size_t i = pids->count; i-- > 0;)
		if (pids->items[i] == pid)
			return true;
	return false;
}

struct imp_error *synthesize_threads(struct synthesizer *synthesizer, const uint32_t *threads,
				     size_t count, struct buffer *ret)
{
	_cleanup_pids_ struct pids done = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < count; i++) {
		uint32_t pid = process_of(synthesizer->options.proc, threads[i]);
		if (!pid || is_among(&done, pid))
			continue;
		uint32_t *slot = array_add(&done);
		if (!slot)
			return &imp_error_no_memory;
		*slot = pid;
		err = synthesize_process(synthesizer, pid, ret);
	}
	return err;
}

size_t synthesizer_forbidden(const struct synthesizer *synthesizer)
{
	return synthesizer->forbidden;
}
