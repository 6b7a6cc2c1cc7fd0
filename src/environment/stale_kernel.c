// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding the newest installed kernel and the files of loaded modules.
#include "environment/stale_kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "elf/elf_image.h"
#include "live/memory.h"
#include "model/image.h"

#define VMLINUZ "vmlinuz-"

// The directory of the machine's own files below the tree: what its first process sees.
static const char *system_root(const struct proc *proc)
{
	return faccessat(proc->fd, "1/root/.", R_OK, 0) ? "self/root" : "1/root";
}

static size_t next_letter(const char *text, size_t at)
{
	return at + strspn(text + at, "0123456789._-+~");
}

bool kernel_flavours_equal(const char *a, const char *b)
{
	size_t i = next_letter(a, 0), k = next_letter(b, 0);
	while (a[i] && a[i] == b[k]) {
		i = next_letter(a, i + 1);
		k = next_letter(b, k + 1);
	}
	return a[i] == b[k];
}

bool bzimage_version(const void *bytes, size_t size, char *version, size_t version_size)
{
	// Documentation/arch/x86/boot.rst: "HdrS" at 0x202, kernel_version (less 0x200) at 0x20e.
	enum { MAGIC_AT = 0x202, POINTER_AT = 0x20e, BASE = 0x200 };
	version[0] = 0;
	struct cursor header = cursor_over(bytes, size);
	cursor_skip(&header, MAGIC_AT);
	const uint8_t *magic = cursor_bytes(&header, 4);
	if (!magic || memcmp(magic, "HdrS", 4) != 0)
		return false;
	cursor_skip(&header, POINTER_AT - MAGIC_AT - 4);
	size_t pointer = cursor_u16(&header);
	struct cursor text = cursor_over(bytes, size);
	cursor_skip(&text, BASE + pointer);
	const char *string = pointer ? cursor_string(&text) : NULL;
	if (!string || strlen(string) >= version_size)
		return false;
	memcpy(version, string, strlen(string) + 1);
	return true;
}

// The release of the newest kernel of the running one's flavour in /boot; "" without one.
static void newest_kernel(const struct proc *proc, const char *running, char *release, size_t size)
{
	release[0] = 0;
	char path[64];
	snprintf(path, sizeof path, "%s/boot", system_root(proc));
	int fd = openat(proc->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	_cleanup_dir_ DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	for (const struct dirent *entry; (entry = readdir(dir));) {
		const char *found = entry->d_name + strlen(VMLINUZ);
		if (strncmp(entry->d_name, VMLINUZ, strlen(VMLINUZ)) != 0 ||
		    !kernel_flavours_equal(found, running))
			continue;
		if (strverscmp(found, release) > 0 && strlen(found) < size)
			memcpy(release, found, strlen(found) + 1);
	}
}

// Whether the installed image of RELEASE is another build of that release than the one running: by
// the text that both carry, which names the build's number and date.
static bool is_rebuilt(const struct proc *proc, const char *release)
{
	char running[1024], installed[1024];
	uint8_t head[32 * 1024];
	enum proc_outcome outcome;
	_cleanup_close_ int fd =
		proc_open_file(proc, &outcome, "%s/boot/" VMLINUZ "%s", system_root(proc), release);
	ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head);
	if (got <= 0 || !bzimage_version(head, (size_t)got, installed, sizeof installed) ||
	    !proc_text(proc, running, sizeof running, "version"))
		return false;
	running[strcspn(running, "\n")] = 0;
	const char *a = strchr(running, '#'), *b = strchr(installed, '#');
	return a && b && strcmp(a, b) != 0;
}

struct kernel_check {
	struct snapshot *snapshot;
	const struct proc *proc;
	struct known_ids *known;
	struct stale_report *report;
};

// Unpacks the file at PATH, unless its ID is known. A file that is replaced meanwhile has another
// time of status afterwards.
static struct imp_error *unpacked_id(struct known_ids *known, const char *path,
				     struct build_id *ret)
{
	struct stat before, after;
	bool is_there = !stat(path, &before);
	if (is_there && known_ids_find(known, &before, ret))
		return NULL;
	struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open(path, &image);
	if (!err)
		*ret = *elf_image_id(image);
	elf_image_free(image);
	if (!err && is_there && !stat(path, &after) && before.st_dev == after.st_dev &&
	    before.st_ino == after.st_ino && before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
	    before.st_ctim.tv_nsec == after.st_ctim.tv_nsec)
		known_ids_add(known, &before, ret);
	return err;
}

// The build ID of the file at PATH, packed or not; none when it has none or cannot be read.
static struct imp_error *installed_id(struct known_ids *known, const char *path,
				      struct build_id *ret)
{
	*ret = (struct build_id){ 0 };
	struct imp_error *err = elf_build_id_read(path, ret);
	if (!err && build_id_is_none(ret))
		err = unpacked_id(known, path, ret);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	imp_error_free(err);
	return NULL;
}

static struct imp_error *add_row(struct stale_report *report, const struct stale_kernel *row)
{
	struct stale_kernel *slot = array_add(&report->kernels);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *row;
	return NULL;
}

static struct imp_error *check_release(const struct kernel_check *check)
{
	struct snapshot *snapshot = check->snapshot;
	const struct proc *proc = check->proc;
	const char *running = snapshot->kernel_release;
	char installed[256];
	newest_kernel(proc, running, installed, sizeof installed);
	if (!installed[0])
		return NULL;
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/boot/" VMLINUZ "%s", proc->path, system_root(proc),
		 installed);
	struct stale_kernel row = { .name = "kernel",
				    .verdict = STALE_CURRENT,
				    .running_id = snapshot->kernel_id,
				    .running = running };
	struct imp_error *err = installed_id(check->known, path, &row.installed_id);
	if (err)
		return err;
	int order = strverscmp(installed, running);
	bool has_ids = !build_id_is_none(&row.running_id) && !build_id_is_none(&row.installed_id);
	bool is_another = has_ids ? !build_id_equal(&row.running_id, &row.installed_id)
				  : order > 0 || is_rebuilt(proc, running);
	// One that is older than the running one is not what a reboot is for.
	if (order >= 0 && is_another)
		row.verdict = STALE_REPLACED;
	err = snapshot_text(snapshot, installed, &row.installed);
	return err ? err : add_row(check->report, &row);
}

static const struct snapshot_module *module_of(const struct snapshot *snapshot, const char *file)
{
	char name[64];
	module_name_of(file, name, sizeof name);
	for (size_t i = 0; i < snapshot->modules.count; i++)
		if (!strcmp(snapshot->modules.items[i].name, name))
			return &snapshot->modules.items[i];
	return NULL;
}

// Compares the loaded MODULE with its installed FILE below the release's directory.
static struct imp_error *check_module(const struct kernel_check *check,
				      const struct snapshot_module *module, const char *file)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/lib/modules/%s/%s", check->proc->path,
		 system_root(check->proc), check->snapshot->kernel_release, file);
	struct build_id installed;
	struct imp_error *err = installed_id(check->known, path, &installed);
	if (err || build_id_is_none(&installed) || build_id_equal(&installed, &module->id))
		return err;
	struct stale_kernel row = { .name = module->name,
				    .verdict = STALE_REPLACED,
				    .running_id = module->id,
				    .installed_id = installed,
				    .running = module->name };
	err = snapshot_text(check->snapshot, file, &row.installed);
	return err ? err : add_row(check->report, &row);
}

static struct imp_error *check_modules(const struct kernel_check *check)
{
	const struct snapshot *snapshot = check->snapshot;
	const struct proc *proc = check->proc;
	_cleanup_buffer_ struct buffer text = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = proc_slurp(proc, &text, &outcome, "%s/lib/modules/%s/modules.dep",
					   system_root(proc), snapshot->kernel_release);
	if (err)
		return err;
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	char *rest = (char *)text.bytes;
	for (char *line; !err && (line = strsep(&rest, "\n"));) {
		line[strcspn(line, ":")] = 0;
		const struct snapshot_module *module = module_of(snapshot, line);
		if (module && !build_id_is_none(&module->id))
			err = check_module(check, module, line);
	}
	return err;
}

struct imp_error *stale_check_kernel(struct snapshot *snapshot, const struct proc *proc,
				     struct known_ids *known, struct stale_report *report)
{
	const struct kernel_check check = {
		.snapshot = snapshot, .proc = proc, .known = known, .report = report
	};
	struct imp_error *err = check_release(&check);
	if (!err && snapshot->modules.count)
		err = check_modules(&check);
	return err;
}
