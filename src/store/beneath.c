// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking below an open directory.
#include "store/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

static int open_step(int dir, const char *name, bool make)
{
	enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int fd = openat(dir, name, FLAGS);
	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, FLAGS);
}

// One component at a time; for kernels before 5.6, sandboxes that refuse openat2(), and to make
// what is missing.
static int walk_to_dir(int root, const char *path, bool make)
{
	_cleanup_close_ int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	while (at >= 0 && *path) {
		char name[NAME_MAX + 1];
		size_t length = strcspn(path, "/");
		if (length == 0 || length > NAME_MAX) {
			errno = length ? ENAMETOOLONG : EINVAL;
			return -1;
		}
		memcpy(name, path, length);
		name[length] = 0;
		int next = open_step(at, name, make);
		(void)close(at);
		at = next;
		path += length + (path[length] == '/');
	}
	return steal_fd(&at);
}

static int open_at_once(int root, const char *path)
{
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

// Most often only the last component is missing.
static int make_last(int root, const char *path)
{
	const char *name;
	_cleanup_close_ int parent = beneath_open_parent(root, path, false, &name);
	if (parent < 0 || (mkdirat(parent, name, 0777) < 0 && errno != EEXIST))
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int beneath_open_dir(int root, const char *path, bool make)
{
	int fd = *path ? open_at_once(root, path) : -1;
	if (fd < 0 && *path && errno == ENOENT && make)
		fd = make_last(root, path);
	if (fd >= 0 || (*path && errno == ENOENT && !make))
		return fd;
	return walk_to_dir(root, path, make);
}

int beneath_open_parent(int root, const char *path, bool make, const char **name)
{
	const char *slash = strrchr(path, '/');
	if (!slash) {
		*name = path;
		return fcntl(root, F_DUPFD_CLOEXEC, 0);
	}
	char parent[PATH_MAX];
	size_t length = (size_t)(slash - path);
	if (length >= sizeof parent) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, length);
	parent[length] = 0;
	*name = slash + 1;
	return beneath_open_dir(root, parent, make);
}

void beneath_prune(int root, const char *path)
{
	char left[PATH_MAX];
	if (strlen(path) >= sizeof left)
		return;
	memcpy(left, path, strlen(path) + 1);
	while (*left) {
		const char *name;
		_cleanup_close_ int parent = beneath_open_parent(root, left, false, &name);
		if (parent < 0 || unlinkat(parent, name, AT_REMOVEDIR) < 0)
			return;
		char *slash = strrchr(left, '/');
		*(slash ? slash : left) = 0;
	}
}

struct tmp_name tmp_name_new(void)
{
	struct tmp_name name;
	uint64_t random = 0;
	// Without randomness (a very young machine) O_EXCL still keeps two writers apart.
	if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
		random = (uint64_t)getpid();
	(void)snprintf(name.text, sizeof name.text, "%016" PRIx64, random);
	return name;
}

static bool is_same_file(const struct second_name *names)
{
	struct stat from;
	struct stat to;
	return !fstatat(names->from, names->from_name, &from, AT_SYMLINK_NOFOLLOW) &&
	       !fstatat(names->to, names->to_name, &to, AT_SYMLINK_NOFOLLOW) &&
	       from.st_ino == to.st_ino && from.st_dev == to.st_dev;
}

static int name_again(const struct second_name *names, int dir, const char *name)
{
	if (!linkat(names->from, names->from_name, dir, name, 0))
		return 0;
	bool has_no_links = errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
	return has_no_links ? symlinkat(names->text, dir, name) : -1;
}

bool beneath_second_name(const struct second_name *names)
{
	if (!name_again(names, names->to, names->to_name))
		return true;
	if (errno != EEXIST)
		return false;
	// rename(2) of two names of one file would do nothing and leave both.
	if (is_same_file(names))
		return true;
	struct tmp_name other = tmp_name_new();
	if (name_again(names, names->tmp, other.text) < 0)
		return false;
	if (!renameat(names->tmp, other.text, names->to, names->to_name))
		return true;
	int reason = errno;
	(void)unlinkat(names->tmp, other.text, 0);
	errno = reason;
	return false;
}
