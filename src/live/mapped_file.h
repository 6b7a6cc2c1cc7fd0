// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What processes have mapped, each file once: its inode, its path, whether that is gone, and the
// build ID of the mapped bytes themselves.
//
// A pathname is never enough: bytes come from /proc/PID/map_files, from /proc/PID/exe, or from the
// path in the process's own root when the inode there is the mapped one.
#ifndef LIVE_MAPPED_FILE_H
#define LIVE_MAPPED_FILE_H

#include "base/strings.h"
#include "live/proc.h"
#include "model/image.h"

enum mapped_kind {
	MAPPED_FILE,
	// memfd_create(2): the name is the creator's, without "/memfd:".
	MAPPED_MEMFD,
	// System V and anonymous shared memory, /dev/zero: an inode no path leads to.
	MAPPED_SHARED_MEMORY,
	MAPPED_VDSO,
	// No name at all, or one given by prctl(2): "[anon:NAME]".
	MAPPED_ANON,
	// Code that a run-time compiler makes, known as such by its names: anonymous memory of a
	// process with a perf map, jitdump files. Given by environment/.
	MAPPED_JIT,
	// Other names in brackets: [heap], [stack], [vvar], [vsyscall], [uprobes].
	MAPPED_SPECIAL,
	MAPPED_KINDS
};

// "file", "memfd", "shared-memory", "vdso", "anon", "jit", "special".
const char *mapped_kind_name(enum mapped_kind kind);

// The kind of model/image.h.
enum image_kind mapped_image_kind(enum mapped_kind kind);

struct mapped_file {
	enum mapped_kind kind;
	// As maps tells it. On overlayfs and btrfs stat(2) gives other devices.
	struct file_key key;
	// Lent by the table. As the kernel sees it from where we stand, without " (deleted)".
	const char *path;
	bool is_deleted;
	// The bytes were looked at: an ID of none then says that the file has none.
	bool id_is_known;
	struct build_id id;
};

// One mapping of a process.
struct mapping {
	uint64_t start, end, offset;
	// PROT_READ, PROT_WRITE, PROT_EXEC.
	uint8_t protection;
	bool is_shared;
	// The number of the mapped file.
	uint32_t file;
};

// A mapping as the kernel gave it, not yet bound to a file.
struct raw_mapping {
	struct mapping mapping;
	uint32_t major, minor;
	uint64_t inode;
	// Lent; not terminated. In maps text a newline stands as \012.
	const char *name;
	size_t name_length;
	bool is_escaped;
};

// Whose mappings are looked at. Begin with process_view_of(); the rest is asked for when needed.
struct process_view {
	const struct proc *proc;
	uint32_t pid;
	bool is_looked_at;
	// What tells apart files with equal numbers on file systems that use them twice.
	uint64_t scope;
	// Where /proc/PID/root points, "" for "/".
	char root[1024];
};

struct process_view process_view_of(const struct proc *proc, uint32_t pid);

// Finds out the root and scope.
void process_view_look(struct process_view *view);

// PATH (as maps shows it) inside the process's own root; NULL when it lies outside.
const char *process_view_path(struct process_view *view, const char *path);

// Opens the regular file that is at PATH (as maps shows it) in the process's own root now. Links
// are followed within that root, devices and pipes are not opened. -1 and *outcome when there is
// none: PROC_GONE also when PATH lies outside the root.
int process_view_open(struct process_view *view, const char *path, enum proc_outcome *outcome);

struct mapped_files;

// FLAGS for mapped_files_new().
enum {
	// Do not look for build IDs.
	MAPPED_WITHOUT_IDS = 1,
};

struct imp_error *mapped_files_new(unsigned flags, struct mapped_files **ret) MUST_CHECK;
void mapped_files_free(struct mapped_files *files);

DEFINE_CLEANUP(struct mapped_files *, mapped_files, mapped_files_free)
#define _cleanup_mapped_files_ __attribute__((cleanup(cleanup_mapped_files)))

size_t mapped_files_count(const struct mapped_files *files);
// Valid until the next file is added; its path for as long as the table.
const struct mapped_file *mapped_files_at(const struct mapped_files *files, uint32_t number);

// The number of the file behind RAW, in *ret. *IS_NEW says that nobody mapped it before; its ID is
// then still unknown.
struct imp_error *mapped_files_bind(struct mapped_files *files, struct process_view *view,
				    const struct raw_mapping *raw, bool *is_new,
				    uint32_t *ret) MUST_CHECK;

// The same by TEXT, what a line of maps says from its device on, where one before said it byte by
// byte and that is enough to know the file: false when it is not.
bool mapped_files_recall(const struct mapped_files *files, const char *text, size_t length,
			 uint32_t *ret);
// File NUMBER was bound by TEXT, which nobody recalled.
struct imp_error *mapped_files_remember(struct mapped_files *files, const char *text, size_t length,
					uint32_t number) MUST_CHECK;

// Takes the ID that the kernel gave.
void mapped_files_set_id(struct mapped_files *files, uint32_t number, const struct build_id *id);

// Opens the mapped file itself, whatever is at its path now: -1 when no way leads to it.
int mapped_file_open(struct process_view *view, const struct mapped_file *file, uint64_t start,
		     uint64_t end);

// Looks for the ID in the mapped bytes, if it is not known already.
void mapped_files_look_for_id(struct mapped_files *files, struct process_view *view,
			      const struct mapping *mapping);

#endif
