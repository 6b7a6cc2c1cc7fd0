// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking at every process once: a handful of small reads and one question for each executable
// mapping.
#include "environment/gather.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/file.h"
#include "environment/content_hash.h"
#include "environment/mapped_name.h"
#include "environment/users.h"
#include "live/cgroup.h"
#include "live/kernel.h"
#include "live/maps.h"
#include "live/memory.h"
#include "live/process.h"

struct gatherer {
	const struct gather_options *options;
	struct snapshot *snapshot;
	struct proc *proc;
	struct mapped_files *files;
	struct users users;
	// Nanoseconds since 1970 at which the machine booted, and ticks in a second.
	uint64_t boot_ns;
	uint64_t ticks;
	// The images that became of mapped files: by file number; UINT32_MAX: none yet.
	ARRAY_OF(uint32_t) image_of_file;
	// The pid namespace that the tree is of; 0: not seen yet.
	uint64_t pid_namespace;
	// The anonymous memory of processes with a run-time compiler; UINT32_MAX: not seen yet.
	uint32_t jit_image;
	struct mappings mappings;
};

// A text and where the snapshot's own copy of it belongs.
struct text_place {
	const char **place;
	const char *text;
};

static struct imp_error *keep_texts(struct snapshot *snapshot, const struct text_place *texts,
				    size_t count)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < count; i++)
		err = snapshot_text(snapshot, texts[i].text, texts[i].place);
	return err;
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

// The value of NAME= in the text of an os-release file, unquoted.
static void os_release_value(const char *text, const char *name, char *value, size_t size)
{
	size_t length = strlen(name);
	value[0] = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) || line[length] != '=')
			continue;
		const char *from = line + length + 1;
		size_t end = strcspn(from, "\n");
		if (end >= 2 && from[0] == '"' && from[end - 1] == '"') {
			from++;
			end -= 2;
		}
		snprintf(value, size, "%.*s", (int)end, from);
		return;
	}
}

// The system's own files are those of the root of the first process: with a foreign /proc tree
// that is the host's.
static struct imp_error *gather_system(struct gatherer *gatherer)
{
	struct snapshot *snapshot = gatherer->snapshot;
	char release[4096], id[64], version[64], machine_id[64], boot_id[64], host[256];
	if (!proc_text(gatherer->proc, release, sizeof release, "1/root/etc/os-release") &&
	    !proc_text(gatherer->proc, release, sizeof release, "self/root/etc/os-release"))
		proc_text(gatherer->proc, release, sizeof release, "1/root/usr/lib/os-release");
	os_release_value(release, "ID", id, sizeof id);
	os_release_value(release, "VERSION_ID", version, sizeof version);
	if (!proc_text(gatherer->proc, machine_id, sizeof machine_id, "1/root/etc/machine-id"))
		proc_text(gatherer->proc, machine_id, sizeof machine_id,
			  "self/root/etc/machine-id");
	machine_id[strcspn(machine_id, "\n")] = 0;
	proc_text(gatherer->proc, boot_id, sizeof boot_id, "sys/kernel/random/boot_id");
	boot_id[strcspn(boot_id, "\n")] = 0;
	proc_text(gatherer->proc, host, sizeof host, "sys/kernel/hostname");
	host[strcspn(host, "\n")] = 0;
	struct utsname name;
	if (uname(&name))
		name.machine[0] = 0;
	const struct text_place texts[] = {
		{ &snapshot->os, id },
		{ &snapshot->os_version, version },
		{ &snapshot->machine_id, machine_id },
		{ &snapshot->boot_id, boot_id },
		{ &snapshot->host, host },
		{ &snapshot->architecture, name.machine },
	};
	return keep_texts(snapshot, texts, COUNT_OF(texts));
}

static struct imp_error *gather_kernel(struct gatherer *gatherer)
{
	struct snapshot *snapshot = gatherer->snapshot;
	const char *sys = gatherer->options->sys_root;
	struct kernel kernel;
	struct imp_error *err = kernel_read(gatherer->proc, sys, &kernel);
	if (err)
		return err;
	snapshot->kernel_id = kernel.id;
	err = snapshot_text(snapshot, kernel.release, &snapshot->kernel_release);
	struct kernel_modules modules = { 0 };
	if (!err)
		err = kernel_modules_read(gatherer->proc, sys, &modules);
	for (size_t i = 0; !err && i < modules.count; i++) {
		struct snapshot_module *module = snapshot_add_module(snapshot);
		if (!module) {
			err = &imp_error_no_memory;
			break;
		}
		module->id = modules.items[i].id;
		module->address = modules.items[i].address;
		module->size = modules.items[i].size;
		err = snapshot_text(snapshot, modules.items[i].name, &module->name);
	}
	kernel_modules_fini(&modules);
	return err;
}

static void read_clock(struct gatherer *gatherer)
{
	long ticks = sysconf(_SC_CLK_TCK);
	gatherer->ticks = ticks > 0 ? (uint64_t)ticks : 100;
	struct timespec now, since_boot;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &since_boot);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	gatherer->snapshot->time_ns = now_ns;
	gatherer->boot_ns =
		now_ns - (uint64_t)since_boot.tv_sec * 1000000000 - (uint64_t)since_boot.tv_nsec;
}

// What the mapped bytes tell beside the ID, while we can still open them.
static struct imp_error *look_into_file(struct gatherer *gatherer, struct process_view *view,
					const struct mapping *mapping, struct snapshot_image *image)
{
	const struct mapped_file *file = mapped_files_at(gatherer->files, mapping->file);
	_cleanup_close_ int fd = mapped_file_open(view, file, mapping->start, mapping->end);
	if (fd < 0)
		return NULL;
	struct elf_face face;
	fd_face_read(fd, &face);
	struct stat stat;
	if (!fstat(fd, &stat))
		image->size = (uint64_t)stat.st_size;
	if (build_id_is_none(&image->id))
		image->has_content_hash = content_hash_of(fd, image->content_hash);
	struct imp_error *err = snapshot_text(gatherer->snapshot, face.soname, &image->soname);
	if (!err)
		err = snapshot_text(gatherer->snapshot, face.package, &image->package);
	if (!err && gatherer->options->capture)
		err = gatherer->options->capture(gatherer->options->capture_arg, image, fd);
	return err;
}

static struct imp_error *add_image(struct gatherer *gatherer, struct process_view *view,
				   const struct mapping *mapping, uint32_t *ret)
{
	struct snapshot *snapshot = gatherer->snapshot;
	const struct mapped_file *file = mapped_files_at(gatherer->files, mapping->file);
	*ret = (uint32_t)snapshot->images.count;
	struct snapshot_image *image = snapshot_add_image(snapshot);
	if (!image)
		return &imp_error_no_memory;
	image->kind = file->kind == MAPPED_FILE && mapped_name_is_jitdump(file->path) ? MAPPED_JIT
										      : file->kind;
	image->id = file->id;
	image->id_is_known = file->id_is_known;
	image->is_deleted = file->is_deleted && file->kind == MAPPED_FILE;
	image->major = file->key.major;
	image->minor = file->key.minor;
	image->inode = file->key.inode;
	struct imp_error *err = snapshot_text(snapshot, file->path, &image->path);
	if (!err && file->key.is_known && image->kind != MAPPED_JIT)
		err = look_into_file(gatherer, view, mapping, image);
	return err;
}

// Anonymous executable memory of a process that writes a perf map is its run-time compiler's.
static struct imp_error *jit_image(struct gatherer *gatherer, uint32_t *ret)
{
	struct snapshot *snapshot = gatherer->snapshot;
	if (gatherer->jit_image == UINT32_MAX) {
		gatherer->jit_image = (uint32_t)snapshot->images.count;
		struct snapshot_image *image = snapshot_add_image(snapshot);
		if (!image)
			return &imp_error_no_memory;
		image->kind = MAPPED_JIT;
	}
	*ret = gatherer->jit_image;
	return NULL;
}

static bool has_perf_map(const struct gatherer *gatherer, uint32_t pid, const char *status)
{
	char path[96];
	snprintf(path, sizeof path, "%u/root/tmp/perf-%u.map", pid,
		 process_parse_inner_pid(status, pid));
	return !faccessat(gatherer->proc->fd, path, F_OK, 0);
}

static struct imp_error *take_mapping(struct gatherer *gatherer, struct process_view *view,
				      const struct mapping *mapping, bool has_jit)
{
	while (gatherer->image_of_file.count <= mapping->file) {
		uint32_t *slot = array_add(&gatherer->image_of_file);
		if (!slot)
			return &imp_error_no_memory;
		*slot = UINT32_MAX;
	}
	uint32_t image = gatherer->image_of_file.items[mapping->file];
	struct imp_error *err = NULL;
	if (has_jit && mapped_files_at(gatherer->files, mapping->file)->kind == MAPPED_ANON)
		err = jit_image(gatherer, &image);
	else if (image == UINT32_MAX)
		err = add_image(gatherer, view, mapping,
				&gatherer->image_of_file.items[mapping->file]);
	if (err)
		return err;
	if (image == UINT32_MAX)
		image = gatherer->image_of_file.items[mapping->file];
	struct snapshot_mapping *slot = snapshot_add_mapping(gatherer->snapshot);
	if (!slot)
		return &imp_error_no_memory;
	*slot = (struct snapshot_mapping){ .start = mapping->start,
					   .size = mapping->end - mapping->start,
					   .offset = mapping->offset,
					   .image = image };
	return NULL;
}

static struct imp_error *take_mappings(struct gatherer *gatherer, struct process_view *view,
				       const char *status, struct snapshot_process *process)
{
	bool has_anonymous = false;
	for (size_t i = 0; i < gatherer->mappings.count; i++) {
		uint32_t file = gatherer->mappings.items[i].file;
		has_anonymous = has_anonymous ||
				mapped_files_at(gatherer->files, file)->kind == MAPPED_ANON;
	}
	bool has_jit = has_anonymous && has_perf_map(gatherer, view->pid, status);
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < gatherer->mappings.count; i++)
		err = take_mapping(gatherer, view, &gatherer->mappings.items[i], has_jit);
	process->mapping_count = gatherer->snapshot->mappings.count - process->first_mapping;
	return err;
}

// The arguments with spaces between them.
static void read_command(const struct gatherer *gatherer, uint32_t pid, char *command, size_t size)
{
	enum proc_outcome outcome;
	ssize_t got = proc_read(gatherer->proc, command, size - 1, &outcome, "%u/cmdline", pid);
	size_t length = got > 0 ? (size_t)got : 0;
	while (length && !command[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		if (!command[i])
			command[i] = ' ';
	command[length] = 0;
}

static uint64_t namespace_of(const struct gatherer *gatherer, uint32_t pid, const char *name)
{
	char text[64];
	const char *number = proc_link(gatherer->proc, text, sizeof text, "%u/ns/%s", pid, name)
				     ? strchr(text, '[')
				     : NULL;
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

// A process with one number only is in the namespace that the tree is of.
static uint64_t pid_namespace_of(struct gatherer *gatherer, uint32_t pid, const char *status)
{
	const char *line = strstr(status, "\nNSpid:\t");
	bool is_outermost = line && line[8 + strcspn(line + 8, "\t\n")] == '\n';
	if (is_outermost && gatherer->pid_namespace)
		return gatherer->pid_namespace;
	uint64_t number = namespace_of(gatherer, pid, "pid");
	if (is_outermost)
		gatherer->pid_namespace = number;
	return number;
}

static struct imp_error *take_places(struct gatherer *gatherer, const char *status,
				     const struct cgroup *cgroup, struct snapshot_process *process)
{
	char command[4096], exe[1024], root[1024];
	uint32_t pid = process->pid;
	read_command(gatherer, pid, command, sizeof command);
	proc_link(gatherer->proc, exe, sizeof exe, "%u/exe", pid);
	if (!proc_link(gatherer->proc, root, sizeof root, "%u/root", pid))
		memcpy(root, "/", 2);
	process->mount_namespace = namespace_of(gatherer, pid, "mnt");
	process->pid_namespace = pid_namespace_of(gatherer, pid, status);
	const struct text_place texts[] = {
		{ &process->command, command },
		{ &process->exe, exe },
		{ &process->root, root },
		{ &process->cgroup, cgroup->path },
		{ &process->unit, cgroup->unit },
		{ &process->runtime, cgroup->runtime },
		{ &process->container, cgroup->container },
	};
	return keep_texts(gatherer->snapshot, texts, COUNT_OF(texts));
}

static struct imp_error *take_process(struct gatherer *gatherer, const struct process *from,
				      const struct cgroup *cgroup, enum proc_outcome outcome)
{
	struct snapshot *snapshot = gatherer->snapshot;
	struct snapshot_process *process = snapshot_add_process(snapshot);
	if (!process)
		return &imp_error_no_memory;
	process->pid = from->pid;
	process->parent = from->parent;
	process->start_ticks = from->start_ticks;
	process->start_ns = gatherer->boot_ns + from->start_ticks * (1000000000 / gatherer->ticks);
	char status[4096];
	proc_text(gatherer->proc, status, sizeof status, "%u/status", from->pid);
	const char *uid = strstr(status, "\nUid:");
	process->has_uid = uid != NULL;
	process->uid = uid ? (uint32_t)strtoul(uid + 5, NULL, 10) : 0;
	const struct text_place texts[] = {
		{ &process->comm, from->comm },
		{ &process->user, users_name(&gatherer->users, process->uid) },
		{ &process->unread, outcome == PROC_FORBIDDEN ? "forbidden" : "" },
	};
	struct imp_error *err = keep_texts(snapshot, texts, COUNT_OF(texts));
	if (!err)
		err = take_places(gatherer, status, cgroup, process);
	if (err)
		return err;
	struct process_view view = process_view_of(gatherer->proc, from->pid);
	return take_mappings(gatherer, &view, status, process);
}

static bool is_wanted(const struct gatherer *gatherer, const struct cgroup *cgroup)
{
	const char *wanted = gatherer->options->cgroup;
	if (!wanted)
		return true;
	size_t length = strlen(wanted);
	while (length && wanted[length - 1] == '/')
		length--;
	return !strncmp(cgroup->path, wanted, length) &&
	       (!cgroup->path[length] || cgroup->path[length] == '/');
}

static struct imp_error *look_at(struct gatherer *gatherer, uint32_t pid)
{
	struct snapshot *snapshot = gatherer->snapshot;
	struct process process;
	if (process_read(gatherer->proc, pid, 0, &process) != PROC_READ) {
		snapshot->gone++;
		return NULL;
	}
	if (process.is_kernel_thread) {
		snapshot->kernel_threads++;
		return NULL;
	}
	char text[4096];
	struct cgroup cgroup;
	proc_text(gatherer->proc, text, sizeof text, "%u/cgroup", pid);
	cgroup_parse(text, &cgroup);
	if (!is_wanted(gatherer, &cgroup))
		return NULL;
	enum proc_outcome outcome;
	gatherer->mappings.count = 0;
	struct imp_error *err = maps_read(gatherer->proc, pid, NULL, gatherer->files,
					  &gatherer->mappings, &outcome);
	if (err)
		return err;
	// A zombie has nothing mapped any more.
	if (outcome == PROC_GONE || process.state == 'Z') {
		snapshot->gone++;
		return NULL;
	}
	if (outcome == PROC_FORBIDDEN)
		snapshot->forbidden++;
	return take_process(gatherer, &process, &cgroup, outcome);
}

static struct imp_error *gather_processes(struct gatherer *gatherer)
{
	const struct gather_options *options = gatherer->options;
	_cleanup_pids_ struct pids pids = { 0 };
	struct imp_error *err = NULL;
	if (!options->pids)
		err = process_list(gatherer->proc, &pids);
	if (!err && !options->pids && !pids.count)
		err = error_new(IMP_ERR_USAGE, "%s: no process is in it: is proc mounted there?",
				gatherer->proc->path);
	const uint32_t *items = options->pids ? options->pids : pids.items;
	size_t count = options->pids ? options->pid_count : pids.count;
	for (size_t i = 0; !err && i < count; i++)
		err = look_at(gatherer, items[i]);
	return err;
}

struct imp_error *gather_live(const struct gather_options *options, struct snapshot **ret)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	_cleanup_proc_ struct proc *proc = NULL;
	_cleanup_mapped_files_ struct mapped_files *files = NULL;
	struct imp_error *err = snapshot_new("live", &snapshot);
	if (!err)
		err = proc_open(options->proc_root, &proc);
	if (!err)
		err = mapped_files_new(0, &files);
	if (err)
		return err;
	struct gatherer gatherer = { .options = options,
				     .snapshot = snapshot,
				     .proc = proc,
				     .files = files,
				     .jit_image = UINT32_MAX };
	proc_close_together(proc);
	read_clock(&gatherer);
	err = users_read(proc, &gatherer.users);
	if (!err)
		err = gather_system(&gatherer);
	if (!err)
		err = gather_kernel(&gatherer);
	if (!err)
		err = gather_processes(&gatherer);
	users_fini(&gatherer.users);
	array_fini(&gatherer.image_of_file);
	mappings_fini(&gatherer.mappings);
	if (!err)
		*ret = steal(snapshot);
	return err;
}
