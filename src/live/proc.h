// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A /proc tree: this machine's, another namespace's seen from a sidecar, or one made by a test.
//
// Processes come and go and may be closed to us: both are outcomes, never errors.
#ifndef LIVE_PROC_H
#define LIVE_PROC_H

#include "base/buffer.h"
#include "base/error.h"

struct proc {
	int fd;
	char *path;
	// Files that wait to be closed with others; NULL: each is closed at once.
	struct closing *closing;
};

enum proc_outcome {
	PROC_READ,
	// The process has ended, or there is no such file.
	PROC_GONE,
	// We may not look.
	PROC_FORBIDDEN
};

// Opens the tree at PATH; NULL means /proc. Give it to proc_free().
struct imp_error *proc_open(const char *path, struct proc **ret) MUST_CHECK;
void proc_free(struct proc *proc);

DEFINE_CLEANUP(struct proc *, proc, proc_free)
#define _cleanup_proc_ __attribute__((cleanup(cleanup_proc)))

// From now on proc_close() closes many files with one system call, where the limit of open files
// leaves room for that. The tree is then one thread's alone. Without memory all stays as it is.
void proc_close_together(struct proc *proc);

// Closes FD, a file of the tree, now or soon.
void proc_close(const struct proc *proc, int fd);

// What ERRNUM of a failed call says of the process.
enum proc_outcome proc_outcome_of(int errnum);

// Opens the file named by FORMAT below the tree, to read. -1 and *outcome when it cannot be.
int proc_open_file(const struct proc *proc, enum proc_outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Appends the file named by FORMAT to RET. Anything that fails is an outcome; only memory is an
// error.
struct imp_error *proc_slurp(const struct proc *proc, struct buffer *ret,
			     enum proc_outcome *outcome, const char *format, ...) MUST_CHECK
	__attribute__((format(printf, 4, 5)));

// Reads what one read(2) of up to SIZE bytes brings of the file named by FORMAT, which is all of a
// small file of /proc. -1 when that fails; *outcome is PROC_READ when it could be opened.
ssize_t proc_read(const struct proc *proc, char *bytes, size_t size, enum proc_outcome *outcome,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

// Reads the file named by FORMAT, cut to SIZE - 1 bytes, into TEXT, and ends it with NUL. False
// (and "") when it cannot be read.
bool proc_text(const struct proc *proc, char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

// Where the link named by FORMAT points, as text. False (and "") when it cannot be read or is
// longer than SIZE - 1.
bool proc_link(const struct proc *proc, char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
