// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The module that tests/vm/run loads twice, as two builds: a thread that works in functions whose
// names tell the build (BUILD is 1 or 2), and is called like them.
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

#define JOIN(a, b, c) a##b##c
#define NAME(build, name) JOIN(v, build, name)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static struct task_struct *worker;
static volatile unsigned long sink;

noinline void NAME(BUILD, _alpha)(void);
noinline void NAME(BUILD, _beta)(void);

#if BUILD == 2
// Moves the functions behind it: read as the other build, their samples have wrong names.
noinline void NAME(BUILD, _shift)(void);
noinline void NAME(BUILD, _shift)(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++)
		sink *= i;
}
#endif

noinline void NAME(BUILD, _alpha)(void)
{
	unsigned long i;

	for (i = 0; i < 60000; i++)
		sink += i;
}

noinline void NAME(BUILD, _beta)(void)
{
	unsigned long i;

	for (i = 0; i < 20000; i++)
		sink ^= i;
}

static int work(void *unused)
{
	while (!kthread_should_stop()) {
		NAME(BUILD, _alpha)();
		NAME(BUILD, _beta)();
#if BUILD == 2
		NAME(BUILD, _shift)();
#endif
		cond_resched();
	}
	return 0;
}

static int __init begin(void)
{
	worker = kthread_run(work, NULL, "build" TEXT(BUILD));
	return PTR_ERR_OR_ZERO(worker);
}

static void __exit end(void)
{
	kthread_stop(worker);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
