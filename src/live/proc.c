// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading files and links below a /proc tree.
#include "live/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/file.h"

enum {
	NAME_SIZE = 4096 + 64,
	// A process with a million mappings has some 100 MiB of maps.
	MOST_BYTES = 256 * 1024 * 1024
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

void proc_free(struct proc *proc)
{
	if (!proc)
		return;
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
	int fd = openat(proc->fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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

bool proc_text(const struct proc *proc, char *text, size_t size, const char *format, ...)
{
	enum proc_outcome outcome;
	va_list args;
	va_start(args, format);
	_cleanup_close_ int fd = open_named(proc, &outcome, format, args);
	va_end(args);
	text[0] = 0;
	// The files of /proc that are small come in one read.
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
	if (got < 0)
		return false;
	text[got] = 0;
	return true;
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
