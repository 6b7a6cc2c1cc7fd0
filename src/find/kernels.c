// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Snapshots of kernels, each read once.
#include "find/kernels.h"

#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "live/kernel.h"
#include "live/memory.h"
#include "live/proc.h"
#include "model/elf_note.h"

enum { TEXT_MOST = 16 << 20 };

struct kernels {
	const struct log *log;
	pthread_mutex_t lock;
	ARRAY_OF(struct snapshot *) snapshots;
};

static const char running_path[] = "/proc/kallsyms";

struct kernels *kernels_new(const struct log *log)
{
	struct kernels *kernels = calloc(1, sizeof *kernels);
	if (!kernels)
		return NULL;
	kernels->log = log;
	pthread_mutex_init(&kernels->lock, NULL);
	return kernels;
}

static void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->modules.count; i++)
		free(snapshot->modules.items[i].name);
	array_fini(&snapshot->modules);
	kallsyms_free(snapshot->kallsyms);
	free(snapshot->path);
	free(snapshot);
}

DEFINE_CLEANUP(struct snapshot *, snapshot, snapshot_free)
#define _cleanup_snapshot_ __attribute__((cleanup(cleanup_snapshot)))

void kernels_free(struct kernels *kernels)
{
	if (!kernels)
		return;
	for (size_t i = 0; i < kernels->snapshots.count; i++)
		snapshot_free(kernels->snapshots.items[i]);
	array_fini(&kernels->snapshots);
	pthread_mutex_destroy(&kernels->lock);
	free(kernels);
}

static struct snapshot *known(const struct kernels *kernels, const char *path)
{
	for (size_t i = 0; i < kernels->snapshots.count; i++)
		if (!strcmp(kernels->snapshots.items[i]->path, path))
			return kernels->snapshots.items[i];
	return NULL;
}

static struct snapshot *snapshot_new(const char *path)
{
	struct snapshot *snapshot = calloc(1, sizeof *snapshot);
	if (snapshot)
		snapshot->path = strdup(path);
	if (snapshot && snapshot->path)
		return snapshot;
	snapshot_free(snapshot);
	return NULL;
}

static struct snapshot_module *add_module(struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->modules.count; i++)
		if (!strcmp(snapshot->modules.items[i].name, name))
			return &snapshot->modules.items[i];
	struct snapshot_module *module = array_add(&snapshot->modules);
	if (module)
		module->name = strdup(name);
	return module && module->name ? module : NULL;
}

static struct imp_error *read_running(struct snapshot *snapshot)
{
	_cleanup_proc_ struct proc *proc = NULL;
	struct kernel kernel;
	struct kernel_modules modules = { 0 };
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = kernel_read(proc, NULL, &kernel);
	if (!err)
		err = kernel_modules_read(proc, NULL, &modules);
	if (!err)
		snapshot->id = kernel.id;
	for (size_t i = 0; i < modules.count && !err; i++) {
		struct snapshot_module *module = add_module(snapshot, modules.items[i].name);
		if (!module) {
			err = &imp_error_no_memory;
			break;
		}
		module->id = modules.items[i].id;
		module->base = modules.items[i].address;
	}
	kernel_modules_fini(&modules);
	return err;
}

// The text of NAME beside PATH, NUL-terminated. False when there is none.
static bool read_beside(const char *path, const char *name, struct buffer *ret)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *file = NULL;
	if (asprintf(&file, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name) < 0) {
		file = NULL;
		return false;
	}
	struct imp_error *err = file_slurp_path(file, TEXT_MOST, ret);
	buffer_append(ret, "", 1);
	bool was_read = !err && !ret->failed;
	imp_error_free(err);
	return was_read;
}

static struct build_id id_of_directory(const char *path)
{
	struct build_id id = { 0 };
	char text[BUILD_ID_TEXT_SIZE];
	const char *end = strrchr(path, '/');
	const char *start = end ? end : path;
	while (start > path && start[-1] != '/')
		start--;
	size_t length = end ? (size_t)(end - start) : 0;
	if (length < 2 || length >= sizeof text)
		return id;
	memcpy(text, start, length);
	text[length] = 0;
	build_id_parse(text, &id);
	return id;
}

// Calls TAKE for each line of TEXT, ended by NUL.
static bool each_line(char *text, struct snapshot *snapshot,
		      bool (*take)(struct snapshot *snapshot, const char *line))
{
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && !take(snapshot, line))
			return false;
	return true;
}

static bool take_module(struct snapshot *snapshot, const char *line)
{
	struct kernel_module module;
	if (!kernel_module_parse(line, &module))
		return true;
	struct snapshot_module *ours = add_module(snapshot, module.name);
	if (ours)
		ours->base = module.address;
	return ours;
}

static bool take_module_id(struct snapshot *snapshot, const char *line)
{
	char name[64], hex[BUILD_ID_TEXT_SIZE];
	struct build_id id;
	if (sscanf(line, "%63s %128s", name, hex) != 2 || !build_id_parse(hex, &id))
		return true;
	struct snapshot_module *ours = add_module(snapshot, name);
	if (ours)
		ours->id = id;
	return ours;
}

static struct imp_error *read_copy(struct snapshot *snapshot, const struct build_id *id)
{
	_cleanup_buffer_ struct buffer notes = { 0 };
	_cleanup_buffer_ struct buffer modules = { 0 };
	_cleanup_buffer_ struct buffer ids = { 0 };
	snapshot->id = id ? *id : id_of_directory(snapshot->path);
	if (!snapshot->id.size && read_beside(snapshot->path, "notes", &notes))
		snapshot->id = build_id_in_notes(notes.bytes, notes.size - 1, 4, false);
	bool done = true;
	if (read_beside(snapshot->path, "modules", &modules))
		done = each_line((char *)modules.bytes, snapshot, take_module);
	if (done && read_beside(snapshot->path, "module-buildids", &ids))
		done = each_line((char *)ids.bytes, snapshot, take_module_id);
	return done ? NULL : &imp_error_no_memory;
}

static struct imp_error *get(struct kernels *kernels, const char *path, const struct build_id *id,
			     struct snapshot **ret)
{
	*ret = known(kernels, path);
	if (*ret)
		return NULL;
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_new(path);
	if (!snapshot)
		return &imp_error_no_memory;
	struct imp_error *err = path == running_path ? read_running(snapshot)
						     : read_copy(snapshot, id);
	// A machine that hides its kernel has none to offer.
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		err = NULL;
	}
	struct snapshot **slot = err ? NULL : array_add(&kernels->snapshots);
	if (!slot)
		return err ? err : &imp_error_no_memory;
	*ret = *slot = steal(snapshot);
	return NULL;
}

struct imp_error *kernels_running(struct kernels *kernels, struct snapshot **ret)
{
	pthread_mutex_lock(&kernels->lock);
	struct imp_error *err = get(kernels, running_path, NULL, ret);
	pthread_mutex_unlock(&kernels->lock);
	return err;
}

struct imp_error *kernels_copy(struct kernels *kernels, const char *path, const struct build_id *id,
			       struct snapshot **ret)
{
	pthread_mutex_lock(&kernels->lock);
	struct imp_error *err = get(kernels, path, id, ret);
	pthread_mutex_unlock(&kernels->lock);
	return err;
}

const struct snapshot_module *snapshot_module(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->modules.count; i++)
		if (!strcmp(snapshot->modules.items[i].name, name))
			return &snapshot->modules.items[i];
	return NULL;
}

// Reads the symbols unless that was done or failed before. Called under the lock.
static struct imp_error *read_symbols(const struct kernels *kernels, struct snapshot *snapshot)
{
	if (snapshot->was_read)
		return NULL;
	snapshot->was_read = true;
	struct imp_error *err = kallsyms_open(snapshot->path, &snapshot->kallsyms);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	log_message(kernels->log, LOG_NOTE, "%s", imp_error_message(err));
	imp_error_free(err);
	return NULL;
}

struct imp_error *kernels_symbols(struct kernels *kernels, struct snapshot *snapshot,
				  const struct kallsyms **ret, const char **why)
{
	pthread_mutex_lock(&kernels->lock);
	struct imp_error *err = read_symbols(kernels, snapshot);
	pthread_mutex_unlock(&kernels->lock);
	if (err)
		return err;
	*ret = NULL;
	if (!snapshot->kallsyms)
		*why = "cannot be read";
	else if (kallsyms_is_hidden(snapshot->kallsyms))
		*why = "all addresses are hidden (kptr_restrict)";
	else
		*ret = snapshot->kallsyms;
	return NULL;
}

struct imp_error *own_vdso(struct elf_image **ret)
{
	_cleanup_buffer_ struct buffer maps = { 0 };
	_cleanup_buffer_ struct buffer bytes = { 0 };
	_cleanup_proc_ struct proc *proc = NULL;
	enum proc_outcome outcome;
	*ret = NULL;
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = proc_slurp(proc, &maps, &outcome, "self/maps");
	buffer_append(&maps, "", 1);
	const char *line = err || maps.failed ? NULL : strstr((char *)maps.bytes, "[vdso]");
	while (line && line > (char *)maps.bytes && line[-1] != '\n')
		line--;
	unsigned long start, end;
	if (line && sscanf(line, "%lx-%lx", &start, &end) == 2 && end - start < (1UL << 20))
		err = process_vdso_read(proc, (uint32_t)getpid(), start, end, &bytes);
	if (!err && bytes.size)
		err = elf_image_open_memory(bytes.bytes, bytes.size, "[vdso]", ret);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		return NULL;
	}
	return err;
}
