// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The processes and threads of a /proc tree, as their stat files tell of them.
#ifndef LIVE_PROCESS_H
#define LIVE_PROCESS_H

#include <stdint.h>

#include "base/array.h"
#include "live/proc.h"

struct process {
	uint32_t pid;
	uint32_t parent;
	// R, S, D, Z, …
	char state;
	bool is_kernel_thread;
	// In clock ticks since the machine booted. With the pid it names a process for ever.
	uint64_t start_ticks;
	// At most 15 bytes, in kernel threads up to 63; may hold any byte but NUL.
	char comm[64];
};

// Ascending numbers.
struct pids {
	uint32_t *items;
	size_t count;
	size_t room;
};

void pids_fini(struct pids *pids);
#define _cleanup_pids_ __attribute__((cleanup(pids_fini)))

// The processes there are now.
struct imp_error *process_list(const struct proc *proc, struct pids *ret) MUST_CHECK;

// The threads of process PID, itself among them.
struct imp_error *process_threads(const struct proc *proc, uint32_t pid, struct pids *ret,
				  enum proc_outcome *outcome) MUST_CHECK;

// Process PID, or with TID not 0 its thread TID (whose start and comm are its own).
enum proc_outcome process_read(const struct proc *proc, uint32_t pid, uint32_t tid,
			       struct process *ret);

// The number by which process PID knows itself: in its own PID namespace. PID where /proc does not
// say.
uint32_t process_inner_pid(const struct proc *proc, uint32_t pid);
// The same from the text of its status file.
uint32_t process_parse_inner_pid(const char *status, uint32_t pid);

// Reads the text of a stat file. False when it is none.
bool process_parse_stat(const char *text, struct process *ret);

#endif
