// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Ways to a mapped file.
#include "record/pin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "live/memory.h"

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

size_t pin_path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), end = sizeof deleted - 1;
	return length > end && !strcmp(path + length - end, deleted) ? length - end : length;
}

static bool is_the_file(int fd, const struct pin_request *request)
{
	struct stat stat;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return false;
	if (build_id_is_none(&request->id))
		return request->inode && stat.st_ino == request->inode &&
		       major(stat.st_dev) == request->major && minor(stat.st_dev) == request->minor;
	struct build_id id = fd_face_id(fd);
	return build_id_equal(&id, &request->id);
}

// FD when it is the file; closes it otherwise.
static int accept_file(int fd, const struct pin_request *request)
{
	if (fd >= 0 && is_the_file(fd, request))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int pin_open(const struct proc *proc, const struct pin_request *request)
{
	enum proc_outcome outcome;
	int fd = proc_open_file(proc, &outcome, "%u/map_files/%llx-%llx", request->pid,
				(unsigned long long)request->start,
				(unsigned long long)request->end);
	if (fd >= 0)
		return fd;
	if (request->path[0] != '/')
		return -1;
	fd = accept_file(proc_open_file(proc, &outcome, "%u/exe", request->pid), request);
	if (fd >= 0)
		return fd;
	char path[4200];
	int length = (int)pin_path_length(request->path);
	snprintf(path, sizeof path, "%u/root%.*s", request->pid, length, request->path);
	fd = accept_file(openat(proc->fd, path, OPEN_FLAGS), request);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "%.*s", length, request->path);
	return accept_file(open(path, OPEN_FLAGS), request);
}
