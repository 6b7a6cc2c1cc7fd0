// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The demo's workload: a service of which two builds exist. Compile with -DBUILD=1 or -DBUILD=2.
//
// Both builds do the same work for a number of seconds, but the second has another function at the
// place where the first has its hot one: whoever reads the samples of one build with the symbols of
// the other is told a wrong name.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#if BUILD == 1
__attribute__((noinline)) void parse_request(void)
{
	for (uint64_t i = 0; i < 400000; i++)
		sink += i * i;
}

__attribute__((noinline)) void compress_page(void)
{
	for (uint64_t i = 0; i < 1600000; i++)
		sink ^= sink << 1 ^ i;
}
#else
__attribute__((noinline)) void verify_signature(void)
{
	for (uint64_t i = 0; i < 1600000; i++)
		sink ^= sink << 1 ^ i;
}

__attribute__((noinline)) void parse_request_v2(void)
{
	for (uint64_t i = 0; i < 400000; i++)
		sink += i * i;
}
#endif

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	while (now() < end) {
#if BUILD == 1
		parse_request();
		compress_page();
#else
		parse_request_v2();
		verify_signature();
#endif
	}
	return 0;
}
