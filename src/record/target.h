// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What is recorded: threads, the whole machine, or cgroups; and on which CPUs.
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct target {
	// Everything on the CPUs, or what the cgroups hold; otherwise `threads`.
	bool is_system_wide;
	ARRAY_OF(uint32_t) threads;
	// Descriptors of cgroup directories, and their names (lent).
	ARRAY_OF(int) cgroups;
	ARRAY_OF(int) cpus;
};

void target_fini(struct target *target);

// Adds all threads of the processes in LIST ("12,34"). A process that is not there is an error, a
// thread that ends meanwhile is none.
struct imp_error *target_add_processes(struct target *target, const char *list) MUST_CHECK;
// Adds the threads in LIST.
struct imp_error *target_add_threads(struct target *target, const char *list) MUST_CHECK;
struct imp_error *target_add_thread(struct target *target, uint32_t tid) MUST_CHECK;
// Adds the cgroup NAME: a path, or below where cgroups are mounted.
struct imp_error *target_add_cgroup(struct target *target, const char *name) MUST_CHECK;

// Sets the CPUs to LIST ("0-3,8"); NULL is all that are online. One that is not online is an error.
struct imp_error *target_set_cpus(struct target *target, const char *list) MUST_CHECK;

#endif
