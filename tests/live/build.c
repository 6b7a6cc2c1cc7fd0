// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The code that scenes of tests/live run: compiled twice, with BUILD 1 and 2, so that every name
// tells which of both it stands in. As a library by itself; with MAIN defined a program around it.
#include <time.h>

#define JOIN(a, b, c) a##b##c
#define NAME(build, name) JOIN(v, build, name)

const char *build_comm(void);
void build_work(double seconds);
void NAME(BUILD, _alpha)(void);
void NAME(BUILD, _beta)(void);

static volatile unsigned long sink;

__attribute__((noinline)) void NAME(BUILD, _alpha)(void)
{
	for (unsigned long i = 0; i < 60000; i++)
		sink += i;
}

__attribute__((noinline)) void NAME(BUILD, _beta)(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink ^= i;
}

// What the process is to call itself while it runs this code.
const char *build_comm(void)
{
	return BUILD == 1 ? "build1" : "build2";
}

// Three times as much in alpha as in beta.
void build_work(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	while (clock() < end)
		for (int i = 0; i < 20; i++) {
			NAME(BUILD, _alpha)();
			NAME(BUILD, _beta)();
		}
}

#ifdef MAIN
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { READY_FD = 3, STOP_FD = 4 };

// SECONDS [NEXT...]: works, tells descriptor 3 that it does, works on ($STOP: until descriptor 4 is
// at its end), and executes NEXT, a program of this kind, if there is one.
int main(int argc, char **argv)
{
	const char *stop = getenv("STOP");
	if (argc < 2)
		return 2;
	prctl(PR_SET_NAME, build_comm());
	build_work(atof(argv[1]) / 4);
	if (write(READY_FD, "r", 1) != 1)
		close(READY_FD);
	build_work(atof(argv[1]));
	for (char byte; stop && read(STOP_FD, &byte, 1);)
		build_work(0.01);
	prctl(PR_SET_NAME, "between");
	if (argc < 3)
		return 0;
	char *next = argv[2];
	argv[2] = argv[1];
	argv[1] = next;
	execv(next, argv + 1);
	return 1;
}
#endif
