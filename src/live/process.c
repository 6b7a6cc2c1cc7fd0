// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Listing processes and reading their stat files.
#include "live/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

// Of linux/sched.h, which is not for user space but stands in every stat file.
#define PF_KTHREAD 0x00200000ULL

void pids_fini(struct pids *pids)
{
	array_fini(pids);
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return left < right ? -1 : left > right;
}

// The number that all of NAME is, or 0.
static uint32_t pid_of(const char *name)
{
	uint64_t pid = 0;
	for (; *name >= '0' && *name <= '9' && pid < UINT32_MAX; name++)
		pid = pid * 10 + (uint64_t)(*name - '0');
	return *name || pid > INT32_MAX ? 0 : (uint32_t)pid;
}

// Reads the numbers among the entries of FD (taken).
static struct imp_error *read_numbers(int fd, struct pids *ret)
{
	_cleanup_dir_ DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return &imp_error_no_memory;
	}
	for (const struct dirent *entry; (entry = readdir(dir));) {
		uint32_t pid = pid_of(entry->d_name);
		if (!pid)
			continue;
		uint32_t *slot = array_add(ret);
		if (!slot)
			return &imp_error_no_memory;
		*slot = pid;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_pids);
	return NULL;
}

struct imp_error *process_list(const struct proc *proc, struct pids *ret)
{
	int fd = openat(proc->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot list", proc->path);
	return read_numbers(fd, ret);
}

struct imp_error *process_threads(const struct proc *proc, uint32_t pid, struct pids *ret,
				  enum proc_outcome *outcome)
{
	char name[32];
	snprintf(name, sizeof name, "%u/task", pid);
	int fd = openat(proc->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*outcome = fd >= 0 ? PROC_READ : proc_outcome_of(errno);
	return fd < 0 ? NULL : read_numbers(fd, ret);
}

bool process_parse_stat(const char *text, struct process *ret)
{
	*ret = (struct process){ 0 };
	// The name in parentheses may hold parentheses, spaces and newlines: the last one ends it.
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	ret->pid = (uint32_t)strtoul(text, NULL, 10);
	size_t length = (size_t)(close - open - 1);
	if (length >= sizeof ret->comm)
		length = sizeof ret->comm - 1;
	memcpy(ret->comm, open + 1, length);
	ret->state = close[2];
	char *at;
	// proc_pid_stat(5): ppid is field 4, flags 9, starttime 22.
	ret->parent = (uint32_t)strtoul(close + 3, &at, 10);
	for (unsigned field = 5; field <= 22; field++) {
		uint64_t value = strtoull(at, &at, 10);
		if (field == 9)
			ret->is_kernel_thread = value & PF_KTHREAD;
		else if (field == 22)
			ret->start_ticks = value;
	}
	return ret->pid != 0;
}

enum proc_outcome process_read(const struct proc *proc, uint32_t pid, uint32_t tid,
			       struct process *ret)
{
	enum proc_outcome outcome;
	char text[1024];
	ssize_t got =
		tid ? proc_read(proc, text, sizeof text - 1, &outcome, "%u/task/%u/stat", pid, tid)
		    : proc_read(proc, text, sizeof text - 1, &outcome, "%u/stat", pid);
	if (got <= 0)
		return outcome == PROC_FORBIDDEN ? outcome : PROC_GONE;
	text[got] = 0;
	return process_parse_stat(text, ret) ? PROC_READ : PROC_GONE;
}

uint32_t process_parse_inner_pid(const char *status, uint32_t pid)
{
	const char *line = strstr(status, "\nNSpid:");
	if (!line)
		return pid;
	const char *last = memrchr(line + 1, '\t', strcspn(line + 1, "\n"));
	unsigned long number = last ? strtoul(last + 1, NULL, 10) : 0;
	return number ? (uint32_t)number : pid;
}

uint32_t process_inner_pid(const struct proc *proc, uint32_t pid)
{
	char status[4096];
	return proc_text(proc, status, sizeof status, "%u/status", pid)
		       ? process_parse_inner_pid(status, pid)
		       : pid;
}
