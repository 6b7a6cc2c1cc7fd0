// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A crowd of processes, each with the executable mappings of the files named, for bench/snapshot:
//
//	snapshot-crowd PROCESSES FILE...
//
// Each maps the files itself, in an order of its own, so that no two look alike. Prints "ready" and
// waits; all end when it does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	void *at = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at == MAP_FAILED ? -1 : 0;
}

// Maps COUNT files beginning with number FIRST, and says so.
static void live(char **files, int count, int first, int ready)
{
	for (int i = 0; i < count; i++)
		if (map(files[(first + i) % count]))
			_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[1]) : 0;
	int ready[2];
	char byte;
	if (processes <= 0 || pipe(ready)) {
		fputs("usage: snapshot-crowd PROCESSES FILE...\n", stderr);
		return 2;
	}
	for (int i = 0; i < processes; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live(argv + 2, argc - 2, i, ready[1]);
	}
	close(ready[1]);
	for (int i = 0; i < processes; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
