// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Preloaded into a program: kills it at the call number $KILL_AT that changes a file system, or
// makes that call and all later ones that need room fail as on a full disk ($FULL_AT). Without
// either, writes the number of such calls to $COUNT_TO when the program ends.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static long number_in(const char *name)
{
	const char *text = getenv(name);
	return text ? strtol(text, NULL, 10) : 0;
}

// Counts a call; true when it is to fail for want of room.
static int is_to_fail(void)
{
	long now = atomic_fetch_add(&calls, 1) + 1;
	if (now == number_in("KILL_AT"))
		(void)kill(getpid(), SIGKILL);
	long full = number_in("FULL_AT");
	if (!full || now < full)
		return 0;
	errno = ENOSPC;
	return 1;
}

// Calls the C library's own NAME.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define EXPORT __attribute__((visibility("default")))

__attribute__((destructor)) static void write_count(void)
{
	const char *path = getenv("COUNT_TO");
	FILE *out = path ? REAL(fopen)(path, "w") : NULL;
	if (out) {
		(void)fprintf(out, "%ld\n", atomic_load(&calls));
		(void)fclose(out);
	}
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	if ((flags & O_CREAT) && is_to_fail())
		return -1;
	return REAL(openat)(dir, path, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	if ((flags & O_CREAT) && is_to_fail())
		return -1;
	return REAL(openat)(dir, path, flags, mode);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
	if (fd > 2 && is_to_fail()) {
		// A full disk takes what there is room for.
		if (size > 1 && atomic_load(&calls) == number_in("FULL_AT"))
			return REAL(write)(fd, bytes, size / 2);
		return -1;
	}
	return REAL(write)(fd, bytes, size);
}

EXPORT int renameat(int from, const char *old, int to, const char *new)
{
	return is_to_fail() ? -1 : REAL(renameat)(from, old, to, new);
}

EXPORT int linkat(int from, const char *old, int to, const char *new, int flags)
{
	return is_to_fail() ? -1 : REAL(linkat)(from, old, to, new, flags);
}

EXPORT int symlinkat(const char *text, int dir, const char *path)
{
	return is_to_fail() ? -1 : REAL(symlinkat)(text, dir, path);
}

EXPORT int mkdirat(int dir, const char *path, mode_t mode)
{
	return is_to_fail() ? -1 : REAL(mkdirat)(dir, path, mode);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	return is_to_fail() ? -1 : REAL(mkdir)(path, mode);
}

EXPORT int unlinkat(int dir, const char *path, int flags)
{
	// Taking away needs no room.
	long full = number_in("FULL_AT");
	if (!full)
		(void)is_to_fail();
	return REAL(unlinkat)(dir, path, flags);
}

EXPORT int fdatasync(int fd)
{
	return is_to_fail() ? -1 : REAL(fdatasync)(fd);
}

EXPORT int fsync(int fd)
{
	return is_to_fail() ? -1 : REAL(fsync)(fd);
}

EXPORT int syncfs(int fd)
{
	return is_to_fail() ? -1 : REAL(syncfs)(fd);
}

EXPORT int fchmod(int fd, mode_t mode)
{
	(void)is_to_fail();
	return REAL(fchmod)(fd, mode);
}
