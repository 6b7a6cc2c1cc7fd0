// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening the very file that is mapped, whatever stands at its path now.
//
// The ways, in this order: /proc/PID/map_files (the inode itself); /proc/PID/exe, the path in the
// process's own root, and the path here, each only when its build ID, or without one its inode, is
// what was recorded. Links at the end of a path are never followed.
#ifndef RECORD_PIN_H
#define RECORD_PIN_H

#include "live/proc.h"
#include "model/build_id.h"

struct pin_request {
	uint32_t pid;
	uint64_t start, end;
	// As recorded.
	const char *path;
	// None when the mmap event had none; then the inode counts.
	struct build_id id;
	uint32_t major, minor;
	uint64_t inode;
};

// The descriptor, or -1 when no way leads to the file.
int pin_open(const struct proc *proc, const struct pin_request *request);

// PATH without the " (deleted)" that the kernel puts behind names that are gone: its length.
size_t pin_path_length(const char *path);

#endif
