// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of mapped files: names made whole, inodes opened, IDs read.
#include "live/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/table.h"
#include "live/maps.h"
#include "live/memory.h"

#define DELETED " (deleted)"
#define DELETED_LENGTH (sizeof DELETED - 1)

static const char *const kind_names[MAPPED_KINDS] = {
	[MAPPED_FILE] = "file",
	[MAPPED_MEMFD] = "memfd",
	[MAPPED_SHARED_MEMORY] = "shared-memory",
	[MAPPED_VDSO] = "vdso",
	[MAPPED_ANON] = "anon",
	[MAPPED_JIT] = "jit",
	[MAPPED_SPECIAL] = "special",
};

const char *mapped_kind_name(enum mapped_kind kind)
{
	return kind_names[kind];
}

enum image_kind mapped_image_kind(enum mapped_kind kind)
{
	switch (kind) {
	case MAPPED_VDSO:
		return IMAGE_VDSO;
	case MAPPED_ANON:
		return IMAGE_ANON;
	case MAPPED_JIT:
		return IMAGE_JIT;
	case MAPPED_SPECIAL:
		return IMAGE_SPECIAL;
	case MAPPED_FILE:
	case MAPPED_MEMFD:
	case MAPPED_SHARED_MEMORY:
	case MAPPED_KINDS:
		break;
	}
	return IMAGE_USER;
}

// A row of the table: the file and what it was found by.
struct entry {
	struct mapped_file file;
	uint32_t name;
	uint64_t scope;
	bool is_escaped;
};

// What a line of maps said of a file.
struct file_text {
	char *text;
	size_t length;
	uint32_t file;
};

struct mapped_files {
	unsigned flags;
	struct strings strings;
	struct table table;
	ARRAY_OF(struct entry) entries;
	// Texts by which files were bound that can be of no other.
	struct table by_text;
	ARRAY_OF(struct file_text) texts;
	// The vdso of 64-bit processes, and the size of its mapping; 0: not seen yet.
	struct entry vdso;
	uint64_t vdso_size;
};

struct imp_error *mapped_files_new(unsigned flags, struct mapped_files **ret)
{
	struct mapped_files *files = calloc(1, sizeof *files);
	if (!files)
		return &imp_error_no_memory;
	files->flags = flags;
	*ret = files;
	return NULL;
}

void mapped_files_free(struct mapped_files *files)
{
	if (!files)
		return;
	strings_fini(&files->strings);
	table_fini(&files->by_text);
	for (size_t i = 0; i < files->texts.count; i++)
		free(files->texts.items[i].text);
	array_fini(&files->texts);
	table_fini(&files->table);
	array_fini(&files->entries);
	free(files);
}

size_t mapped_files_count(const struct mapped_files *files)
{
	return files->entries.count;
}

const struct mapped_file *mapped_files_at(const struct mapped_files *files, uint32_t number)
{
	return &files->entries.items[number].file;
}

struct process_view process_view_of(const struct proc *proc, uint32_t pid)
{
	return (struct process_view){ .proc = proc, .pid = pid };
}

void process_view_look(struct process_view *view)
{
	if (view->is_looked_at)
		return;
	view->is_looked_at = true;
	char text[128];
	proc_link(view->proc, view->root, sizeof view->root, "%u/root", view->pid);
	if (!strcmp(view->root, "/"))
		view->root[0] = 0;
	proc_link(view->proc, text, sizeof text, "%u/ns/mnt", view->pid);
	uint64_t scope = hash_bytes(1, text, strlen(text));
	scope = hash_bytes(scope, view->root, strlen(view->root));
	snprintf(text, sizeof text, "%u/root", view->pid);
	struct stat root;
	if (!fstatat(view->proc->fd, text, &root, 0))
		scope = hash_mix(hash_mix(scope, root.st_dev), root.st_ino);
	view->scope = scope;
}

const char *process_view_path(struct process_view *view, const char *path)
{
	process_view_look(view);
	size_t length = strlen(view->root);
	if (!length)
		return path;
	if (strncmp(path, view->root, length) || path[length] != '/')
		return NULL;
	return path + length;
}

static bool name_begins(const struct raw_mapping *raw, const char *with)
{
	size_t length = strlen(with);
	return raw->name_length >= length && !memcmp(raw->name, with, length);
}

static bool name_ends_deleted(const struct raw_mapping *raw)
{
	return raw->name_length > DELETED_LENGTH &&
	       !memcmp(raw->name + raw->name_length - DELETED_LENGTH, DELETED, DELETED_LENGTH);
}

static enum mapped_kind kind_of(const struct raw_mapping *raw)
{
	if (!raw->inode) {
		if (!raw->name_length || name_begins(raw, "[anon:"))
			return MAPPED_ANON;
		return raw->name_length == 6 && name_begins(raw, "[vdso]") ? MAPPED_VDSO
									   : MAPPED_SPECIAL;
	}
	if (name_begins(raw, "[anon_shmem:"))
		return MAPPED_SHARED_MEMORY;
	if (!name_begins(raw, "/"))
		return MAPPED_SPECIAL;
	// These live on mounts of the kernel's own, without a device and without a path.
	if (raw->major || !name_ends_deleted(raw))
		return MAPPED_FILE;
	if (name_begins(raw, "/memfd:"))
		return MAPPED_MEMFD;
	if (name_begins(raw, "/SYSV") || name_begins(raw, "/dev/zero (") ||
	    name_begins(raw, "/anon_hugepage ("))
		return MAPPED_SHARED_MEMORY;
	return MAPPED_FILE;
}

static bool is_inode(const struct stat *stat, const struct file_key *key)
{
	// On overlayfs and btrfs maps and stat(2) name different devices; those of maps have major
	// 0.
	return stat->st_ino == key->inode &&
	       (key->major == 0 || stat->st_dev == makedev(key->major, key->minor));
}

static bool fd_is_inode(int fd, const struct file_key *key)
{
	struct stat stat;
	return !fstat(fd, &stat) && is_inode(&stat, key);
}

static int open_map_file(const struct process_view *view, uint64_t start, uint64_t end)
{
	enum proc_outcome outcome;
	return proc_open_file(view->proc, &outcome, "%u/map_files/%llx-%llx", view->pid,
			      (unsigned long long)start, (unsigned long long)end);
}

// openat(2) of PATH below ROOT, where absolute links and ".." stay below it. Kernels before 5.6 do
// not know openat2(2): there a link may lead out, to a file whose ID or inode will not fit.
static int open_path_in_root(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
	if (fd < 0 && errno == ENOSYS)
		fd = openat(root, path + strspn(path, "/"), O_PATH | O_CLOEXEC);
	return fd;
}

int process_view_open(struct process_view *view, const char *path, enum proc_outcome *outcome)
{
	*outcome = PROC_GONE;
	const char *inside = process_view_path(view, path);
	if (!inside || inside[0] != '/')
		return -1;
	char name[48];
	snprintf(name, sizeof name, "%u/root", view->pid);
	_cleanup_close_ int root = openat(view->proc->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int found = root < 0 ? -1 : open_path_in_root(root, inside);
	struct stat stat;
	if (found < 0 || fstat(found, &stat)) {
		*outcome = proc_outcome_of(errno);
		return -1;
	}
	if (!S_ISREG(stat.st_mode))
		return -1;
	snprintf(name, sizeof name, "/proc/self/fd/%d", found);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	*outcome = fd >= 0 ? PROC_READ : proc_outcome_of(errno);
	return fd;
}

static int open_in_root(struct process_view *view, const char *path)
{
	enum proc_outcome outcome;
	return process_view_open(view, path, &outcome);
}

// The open file of the process that is KEY, or -1.
static int open_own_fd(const struct process_view *view, const struct file_key *key)
{
	char name[32];
	snprintf(name, sizeof name, "%u/fd", view->pid);
	int fds = openat(view->proc->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds < 0)
		return -1;
	_cleanup_dir_ DIR *dir = fdopendir(fds);
	if (!dir) {
		close(fds);
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(dir));) {
		struct stat stat;
		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &stat, 0) ||
		    !is_inode(&stat, key))
			continue;
		int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && fd_is_inode(fd, key))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

int mapped_file_open(struct process_view *view, const struct mapped_file *file, uint64_t start,
		     uint64_t end)
{
	if (!file->key.is_known)
		return -1;
	int fd = open_map_file(view, start, end);
	if (fd >= 0)
		return fd;
	enum proc_outcome outcome;
	_cleanup_close_ int other = proc_open_file(view->proc, &outcome, "%u/exe", view->pid);
	if (other >= 0 && fd_is_inode(other, &file->key))
		return steal_fd(&other);
	_cleanup_close_ int named = file->is_deleted ? -1 : open_in_root(view, file->path);
	if (named >= 0 && fd_is_inode(named, &file->key))
		return steal_fd(&named);
	return file->is_deleted ? open_own_fd(view, &file->key) : -1;
}

// Whether the file at PATH in the process's root is the one that RAW maps.
static bool path_is_mapped(struct process_view *view, const struct raw_mapping *raw,
			   const struct file_key *key, const char *path)
{
	_cleanup_close_ int named = open_in_root(view, path);
	if (named < 0)
		return false;
	_cleanup_close_ int mapped = open_map_file(view, raw->mapping.start, raw->mapping.end);
	struct stat a, b;
	if (mapped >= 0 && !fstat(mapped, &a) && !fstat(named, &b))
		return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return fd_is_inode(named, key);
}

// Replaces each \012 by the newline it (probably) stands for.
static void unescape(char *path)
{
	char *to = path;
	for (const char *from = path; *from; to++) {
		bool is_newline = !strncmp(from, "\\012", 4);
		*to = is_newline ? '\n' : *from;
		from += is_newline ? 4 : 1;
	}
	*to = 0;
}

// Maps text escapes a newline, but not the backslash: which of the two was meant is known from the
// link of the mapping, or from the file that is there.
static void unescape_name(struct process_view *view, const struct raw_mapping *raw,
			  const struct file_key *key, char *path, size_t size)
{
	if (!raw->is_escaped || !strstr(path, "\\012"))
		return;
	_cleanup_free_ char *link = malloc(size);
	if (link &&
	    proc_link(view->proc, link, size, "%u/map_files/%llx-%llx", view->pid,
		      (unsigned long long)raw->mapping.start, (unsigned long long)raw->mapping.end))
		memcpy(path, link, strlen(link) + 1);
	else if (!path_is_mapped(view, raw, key, path))
		unescape(path);
}

// The file's own path out of what the kernel shows, in FILE.
static struct imp_error *name_file(struct mapped_files *files, struct process_view *view,
				   const struct raw_mapping *raw, struct mapped_file *file)
{
	char path[PATH_MAX + 64];
	size_t length = raw->name_length < sizeof path ? raw->name_length : sizeof path - 1;
	memcpy(path, raw->name, length);
	path[length] = 0;
	if (file->kind == MAPPED_FILE)
		unescape_name(view, raw, &file->key, path, sizeof path);
	length = strlen(path);
	bool says_deleted = length > DELETED_LENGTH &&
			    !strcmp(path + length - DELETED_LENGTH, DELETED);
	// A file may really be named so.
	if (file->key.is_known && says_deleted &&
	    (file->kind != MAPPED_FILE || !path_is_mapped(view, raw, &file->key, path))) {
		file->is_deleted = true;
		length -= DELETED_LENGTH;
		path[length] = 0;
	}
	size_t skip = file->kind == MAPPED_MEMFD ? strlen("/memfd:") : 0;
	uint32_t number;
	struct imp_error *err =
		strings_intern(&files->strings, path + skip, length - skip, &number);
	if (!err)
		file->path = strings_at(&files->strings, number);
	return err;
}

// Reads the vdso: its bytes are what tells it from those of other processes. The kernel has one for
// all processes of a kind, and only 64-bit ones have it above 4 GiB: it is read once.
static struct imp_error *look_at_vdso(struct mapped_files *files, struct process_view *view,
				      const struct raw_mapping *raw, struct entry *entry)
{
	uint64_t size = raw->mapping.end - raw->mapping.start;
	bool is_64bit = raw->mapping.start > UINT32_MAX;
	if (is_64bit && files->vdso_size == size) {
		entry->scope = files->vdso.scope;
		entry->file.id = files->vdso.file.id;
		entry->file.id_is_known = true;
		return NULL;
	}
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = process_vdso_read(view->proc, view->pid, raw->mapping.start,
						  raw->mapping.end, &bytes);
	if (err || !bytes.size)
		return err;
	entry->scope = hash_bytes(2, bytes.bytes, bytes.size);
	entry->file.id = elf_face_id_of_memory(bytes.bytes, bytes.size);
	entry->file.id_is_known = true;
	if (is_64bit) {
		files->vdso = *entry;
		files->vdso_size = size;
	}
	return NULL;
}

static bool entry_is(const struct entry *entry, const struct entry *other)
{
	const struct file_key *a = &entry->file.key, *b = &other->file.key;
	return entry->name == other->name && entry->scope == other->scope &&
	       entry->is_escaped == other->is_escaped && entry->file.kind == other->file.kind &&
	       a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static struct imp_error *add_entry(struct mapped_files *files, struct process_view *view,
				   const struct raw_mapping *raw, const struct entry *entry,
				   uint64_t hash, uint32_t *ret)
{
	struct entry complete = *entry;
	struct imp_error *err = name_file(files, view, raw, &complete.file);
	if (err)
		return err;
	if (files->entries.count >= UINT32_MAX - 1 || !array_reserve(&files->entries, 1) ||
	    !table_insert(&files->table, hash, (uint32_t)files->entries.count))
		return &imp_error_no_memory;
	*ret = (uint32_t)files->entries.count;
	files->entries.items[files->entries.count++] = complete;
	return NULL;
}

struct imp_error *mapped_files_bind(struct mapped_files *files, struct process_view *view,
				    const struct raw_mapping *raw, bool *is_new, uint32_t *ret)
{
	struct entry entry = { .is_escaped = raw->is_escaped };
	entry.file.kind = kind_of(raw);
	entry.file.key = (struct file_key){ .major = raw->major,
					    .minor = raw->minor,
					    .inode = raw->inode,
					    .is_known = raw->inode != 0 };
	struct imp_error *err =
		strings_intern(&files->strings, raw->name, raw->name_length, &entry.name);
	if (!err && entry.file.kind == MAPPED_VDSO && !(files->flags & MAPPED_WITHOUT_IDS))
		err = look_at_vdso(files, view, raw, &entry);
	if (err)
		return err;
	// File systems without a device of their own (btrfs with its subvolumes, overlayfs) give
	// one number to several files, even under one path in two roots.
	if (raw->inode && raw->major == 0 && entry.file.kind == MAPPED_FILE) {
		process_view_look(view);
		entry.scope = view->scope;
	}
	uint64_t hash = hash_mix(hash_mix(raw->inode, entry.name), entry.scope);
	struct table_probe probe = table_probe(&files->table, hash);
	*is_new = false;
	while (table_next(&files->table, &probe, ret))
		if (entry_is(&files->entries.items[*ret], &entry))
			return NULL;
	*is_new = true;
	return add_entry(files, view, raw, &entry, hash, ret);
}

// Of both ends, where the inode and the file's name stand; spaces are between them.
static uint64_t hash_text(const char *text, size_t length)
{
	enum { END = 16 };
	if (length < 2 * END)
		return hash_bytes(0, text, length);
	uint64_t hash = hash_bytes(length, text, END);
	return hash_bytes(hash, text + length - END, END);
}

bool mapped_files_recall(const struct mapped_files *files, const char *text, size_t length,
			 uint32_t *ret)
{
	struct table_probe probe = table_probe(&files->by_text, hash_text(text, length));
	uint32_t number;
	while (table_next(&files->by_text, &probe, &number)) {
		const struct file_text *known = &files->texts.items[number];
		if (known->length == length && !memcmp(known->text, text, length)) {
			*ret = known->file;
			return true;
		}
	}
	return false;
}

// What has a scope of its own may be another file, or another vdso, in another process; and what a
// newline in a name is told by is asked of each.
struct imp_error *mapped_files_remember(struct mapped_files *files, const char *text, size_t length,
					uint32_t number)
{
	const struct entry *entry = &files->entries.items[number];
	if (entry->scope || entry->file.kind == MAPPED_VDSO || memmem(text, length, "\\012", 4))
		return NULL;
	_cleanup_free_ char *copy = malloc(length + 1);
	if (!copy || !array_reserve(&files->texts, 1) ||
	    !table_insert(&files->by_text, hash_text(text, length), (uint32_t)files->texts.count))
		return &imp_error_no_memory;
	memcpy(copy, text, length);
	files->texts.items[files->texts.count++] =
		(struct file_text){ steal(copy), length, number };
	return NULL;
}

void mapped_files_set_id(struct mapped_files *files, uint32_t number, const struct build_id *id)
{
	files->entries.items[number].file.id = *id;
	files->entries.items[number].file.id_is_known = true;
}

// The ID out of the process's memory, where the file's first page is mapped too. For deleted
// libraries on kernels without PROCMAP_QUERY when we are not root.
static bool id_in_memory(const struct process_view *view, const struct file_key *key,
			 struct build_id *ret)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	enum proc_outcome outcome;
	_cleanup_error_ struct imp_error *err =
		proc_slurp(view->proc, &text, &outcome, "%u/maps", view->pid);
	if (err || !text.size)
		return false;
	_cleanup_close_ int memory = process_memory_open(view->proc, view->pid, &outcome);
	if (memory < 0)
		return false;
	const char *at = (const char *)text.bytes;
	struct raw_mapping raw;
	while (maps_next_line(&at, (const char *)text.bytes + text.size, &raw)) {
		if (raw.inode != key->inode || raw.major != key->major || raw.minor != key->minor ||
		    raw.mapping.offset)
			continue;
		struct fd_bytes image = { .fd = memory, .offset = raw.mapping.start };
		*ret = elf_face_id(&(struct byte_source){
			.read = fd_bytes_read, .arg = &image, .is_loaded = true });
		return !build_id_is_none(ret);
	}
	return false;
}

void mapped_files_look_for_id(struct mapped_files *files, struct process_view *view,
			      const struct mapping *mapping)
{
	struct mapped_file *file = &files->entries.items[mapping->file].file;
	if (file->id_is_known || !file->key.is_known || (files->flags & MAPPED_WITHOUT_IDS))
		return;
	_cleanup_close_ int fd = mapped_file_open(view, file, mapping->start, mapping->end);
	if (fd >= 0) {
		file->id = fd_face_id(fd);
		file->id_is_known = true;
	} else {
		file->id_is_known = id_in_memory(view, &file->key, &file->id);
	}
}
