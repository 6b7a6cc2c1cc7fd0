// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading files and links below a /proc tree.
#include "live/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"

enum {
	CLOSED_TOGETHER = 32,
	NAME_SIZE = 4096 + 64,
	// A process with a million mappings has some 100 MiB of maps.
	MOST_BYTES = 256 * 1024 * 1024
};

struct closing {
	unsigned count;
	int fds[CLOSED_TOGETHER];
};

struct imp_error *proc_open(const char *path, struct proc **ret)
{
	if (!path)
		path = "/proc";
	struct proc *proc = calloc(1, sizeof *proc);
	if (!proc)
		return &imp_error_no_memory;
	proc->path = strdup(path);
	proc->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int errnum = errno;
	if (proc->path && proc->fd >= 0) {
		*ret = proc;
		return NULL;
	}
	bool has_path = proc->path != NULL;
	proc_free(proc);
	return has_path ? error_system(errnum, "%s: cannot open", path) : &imp_error_no_memory;
}

// Closes all that wait; false when none did. Files opened one after the other have numbers that
// follow one another, but for those that somebody else has.
static bool close_waiting(const struct proc *proc)
{
	struct closing *closing = proc->closing;
	if (!closing || !closing->count)
		return false;
	const int *fds = closing->fds;
	for (unsigned first = 0, next; first < closing->count; first = next) {
		for (next = first + 1; next < closing->count && fds[next] == fds[next - 1] + 1;)
			next++;
		if (!close_range((unsigned)fds[first], (unsigned)fds[next - 1], 0))
			continue;
		for (unsigned i = first; i < next; i++)
			close(fds[i]);
	}
	closing->count = 0;
	return true;
}

void proc_close_together(struct proc *proc)
{
	struct rlimit files;
	if (!proc->closing && !getrlimit(RLIMIT_NOFILE, &files) &&
	    files.rlim_cur >= 8 * CLOSED_TOGETHER)
		proc->closing = calloc(1, sizeof *proc->closing);
}

void proc_close(const struct proc *proc, int fd)
{
	struct closing *closing = proc->closing;
	if (!closing) {
		close(fd);
		return;
	}
	closing->fds[closing->count++] = fd;
	if (closing->count == CLOSED_TOGETHER)
		close_waiting(proc);
}

void proc_free(struct proc *proc)
{
	if (!proc)
		return;
	close_waiting(proc);
	free(proc->closing);
	if (proc->fd >= 0)
		close(proc->fd);
	free(proc->path);
	free(proc);
}

enum proc_outcome proc_outcome_of(int errnum)
{
	return errnum == EACCES || errnum == EPERM ? PROC_FORBIDDEN : PROC_GONE;
}

__attribute__((format(printf, 3, 0))) static int
open_named(const struct proc *proc, enum proc_outcome *outcome, const char *format, va_list args)
{
	char name[NAME_SIZE];
	int length = vsnprintf(name, sizeof name, format, args);
	if (length < 0 || (size_t)length >= sizeof name) {
		*outcome = PROC_GONE;
		return -1;
	}
	// A fake tree or a process's root may hold FIFOs: never wait for a writer.
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };
	int fd = openat(proc->fd, name, FLAGS);
	if (fd < 0 && errno == EMFILE && close_waiting(proc))
		fd = openat(proc->fd, name, FLAGS);
	*outcome = fd >= 0 ? PROC_READ : proc_outcome_of(errno);
	return fd;
}

int proc_open_file(const struct proc *proc, enum proc_outcome *outcome, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int fd = open_named(proc, outcome, format, args);
	va_end(args);
	return fd;
}

struct imp_error *proc_slurp(const struct proc *proc, struct buffer *ret,
			     enum proc_outcome *outcome, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	_cleanup_close_ int fd = open_named(proc, outcome, format, args);
	va_end(args);
	if (fd < 0)
		return NULL;
	struct imp_error *err = file_slurp(fd, proc->path, MOST_BYTES, ret);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	// ESRCH in the middle of a read: the process ended.
	imp_error_free(err);
	*outcome = PROC_GONE;
	return NULL;
}

__attribute__((format(printf, 5, 0))) static ssize_t read_named(const struct proc *proc,
								char *bytes, size_t size,
								enum proc_outcome *outcome,
								const char *format, va_list args)
{
	int fd = open_named(proc, outcome, format, args);
	if (fd < 0)
		return -1;
	ssize_t got = read(fd, bytes, size);
	proc_close(proc, fd);
	return got;
}

ssize_t proc_read(const struct proc *proc, char *bytes, size_t size, enum proc_outcome *outcome,
		  const char *format, ...)
{
	va_list args;
	va_start(args, format);
	ssize_t got = read_named(proc, bytes, size, outcome, format, args);
	va_end(args);
	return got;
}

bool proc_text(const struct proc *proc, char *text, size_t size, const char *format, ...)
{
	enum proc_outcome outcome;
	va_list args;
	va_start(args, format);
	ssize_t got = read_named(proc, text, size - 1, &outcome, format, args);
	va_end(args);
	text[got > 0 ? got : 0] = 0;
	return got >= 0;
}

bool proc_link(const struct proc *proc, char *text, size_t size, const char *format, ...)
{
	char name[NAME_SIZE];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(name, sizeof name, format, args);
	va_end(args);
	text[0] = 0;
	if (length < 0 || (size_t)length >= sizeof name)
		return false;
	ssize_t got = readlinkat(proc->fd, name, text, size);
	if (got < 0 || (size_t)got >= size) {
		text[0] = 0;
		return false;
	}
	text[got] = 0;
	return true;
}
