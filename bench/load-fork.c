// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A load of COUNT short processes, one after the other: load-fork COUNT
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	char path[] = "/bin/true";
	char *words[] = { path, NULL };
	for (long i = 0; i < count; i++) {
		pid_t pid;
		if (posix_spawn(&pid, path, NULL, NULL, words, environ)) {
			perror("load-fork");
			return 1;
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
