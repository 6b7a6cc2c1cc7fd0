// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Kernel modules that come while a recording runs, each as a mapping with its time and build ID, so
// that one that is loaded again as another build is read by time.
//
// The tracepoint module:module_load tells when (tracefs and permission assumed); what was loaded is
// read from /proc/modules and /sys. Without it /proc/modules is compared from time to time, and a
// module counts from the last time it was not there.
#ifndef RECORD_MODULE_WATCH_H
#define RECORD_MODULE_WATCH_H

#include "base/buffer.h"
#include "live/kernel.h"
#include "live/ring.h"

struct module_watch {
	// Lent.
	const struct proc *proc;
	struct kernel_modules known;
	struct ring *rings;
	size_t ring_count;
	// When /proc/modules was read last, by CLOCK_MONOTONIC.
	uint64_t read_ns;
};

// Begins with what KNOWN has (taken over). CPUS are those that tracepoints are opened on. Failing
// to open them is no error.
struct imp_error *module_watch_begin(struct module_watch *watch, const struct proc *proc,
				     struct kernel_modules *known, const int *cpus,
				     size_t cpu_count) MUST_CHECK;
void module_watch_end(struct module_watch *watch);

// Sees each new module.
typedef void module_see(void *arg, const struct kernel_module *module);

// Appends a record for each module that has come since the last call. IS_DUE: look also when no
// tracepoint tells that there is something new. NOW_NS is by CLOCK_MONOTONIC.
struct imp_error *module_watch_look(struct module_watch *watch, bool is_due, uint64_t now_ns,
				    module_see *see, void *arg, struct buffer *ret) MUST_CHECK;

#endif
