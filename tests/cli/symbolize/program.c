// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A program with a known place in it: the label `spot`, in a call that is inlined twice.
#include <stdio.h>
#include <unistd.h>

__attribute__((always_inline)) static inline void innermost(void)
{
	__asm__ volatile(".globl spot\nspot: nop");
}

__attribute__((always_inline)) static inline void middle(void)
{
	innermost();
}

__attribute__((noinline)) void outermost(void)
{
	middle();
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	extern char spot[];
	(void)argv;
	outermost();
	if (argc > 1) {
		printf("%p\n", (void *)spot);
		fflush(stdout);
		pause();
	}
	return 0;
}
