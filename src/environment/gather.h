// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A snapshot of what runs now.
#ifndef ENVIRONMENT_GATHER_H
#define ENVIRONMENT_GATHER_H

#include "environment/snapshot.h"

// Called once for each image that is a file, with an open descriptor of the mapped bytes (lent),
// while they are alive: the store takes them here.
typedef struct imp_error *gather_capture(void *arg, const struct snapshot_image *image, int fd);

struct gather_options {
	// NULL: /proc and /sys.
	const char *proc_root;
	const char *sys_root;
	// Only these processes; NULL and 0: all.
	const uint32_t *pids;
	size_t pid_count;
	// Only processes whose control group is this one or lies below it; NULL: all.
	const char *cgroup;
	gather_capture *capture;
	void *capture_arg;
};

// Takes a snapshot. Processes that end meanwhile and those that may not be looked at are counted.
struct imp_error *gather_live(const struct gather_options *options,
			      struct snapshot **ret) MUST_CHECK;

#endif
