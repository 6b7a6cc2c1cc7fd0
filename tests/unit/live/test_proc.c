// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/tap.h"

static unsigned open_files(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static bool reads_itself(const struct proc *proc)
{
	char text[64];
	return proc_text(proc, text, sizeof text, "self/comm") && text[0];
}

TEST(files_that_are_closed_together_are_all_closed)
{
	unsigned before = open_files();
	// A number that is taken in the middle of those that are free.
	int taken = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 12);
	struct proc *proc;
	REQUIRE_OK(proc_open(NULL, &proc));
	proc_close_together(proc);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(reads_itself(proc));
		CHECK(open_files() <= before + 2 + 32);
	}
	proc_free(proc);
	CHECK(fcntl(taken, F_GETFD) >= 0);
	close(taken);
	CHECK_UINT(open_files(), before);
}

TEST(files_that_wait_to_be_closed_are_not_in_the_way)
{
	struct rlimit limit, few;
	REQUIRE(!getrlimit(RLIMIT_NOFILE, &limit));
	few = (struct rlimit){ .rlim_cur = 300, .rlim_max = limit.rlim_max };
	REQUIRE(!setrlimit(RLIMIT_NOFILE, &few));
	struct proc *proc;
	CHECK_OK(proc_open(NULL, &proc));
	proc_close_together(proc);
	for (unsigned i = 0; i < 20; i++)
		CHECK(reads_itself(proc));
	int fds[300];
	unsigned count = 0;
	while (count < 300 && (fds[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	CHECK(count > 0 && count < 300);
	CHECK(reads_itself(proc));
	while (count)
		close(fds[--count]);
	proc_free(proc);
	setrlimit(RLIMIT_NOFILE, &limit);
}
