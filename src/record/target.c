// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lists of processes, threads and CPUs.
#include "record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/file.h"
#include "live/process.h"

enum { CPUS_MOST = 65536, STAT_MOST = 4 << 20 };

void target_fini(struct target *target)
{
	for (size_t i = 0; i < target->cgroups.count; i++)
		close(target->cgroups.items[i]);
	array_fini(&target->cgroups);
	array_fini(&target->threads);
	array_fini(&target->cpus);
}

struct imp_error *target_add_thread(struct target *target, uint32_t tid)
{
	uint32_t *item = array_add(&target->threads);
	if (!item)
		return &imp_error_no_memory;
	*item = tid;
	return NULL;
}

// Reads one number of a list and the comma behind it. False when TEXT does not begin with one.
static bool next_number(const char **text, uint64_t *ret)
{
	if (**text < '0' || **text > '9')
		return false;
	char *end;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	if (errno || *ret > INT32_MAX || (*end && *end != ','))
		return false;
	if (*end == ',' && !end[1])
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

static struct imp_error *list_error(const char *what, const char *list)
{
	return error_new(IMP_ERR_USAGE, "'%s' is not a list of %s", list, what);
}

static struct imp_error *add_process(struct target *target, const struct proc *proc, uint32_t pid)
{
	_cleanup_pids_ struct pids threads = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = process_threads(proc, pid, &threads, &outcome);
	if (err)
		return err;
	if (!threads.count)
		return error_new(IMP_ERR_SYSTEM, "there is no process %u", pid);
	for (size_t i = 0; i < threads.count && !err; i++)
		err = target_add_thread(target, threads.items[i]);
	return err;
}

struct imp_error *target_add_processes(struct target *target, const char *list)
{
	_cleanup_proc_ struct proc *proc = NULL;
	struct imp_error *err = proc_open(NULL, &proc);
	const char *at = list;
	do {
		uint64_t pid;
		if (!err && !next_number(&at, &pid))
			return list_error("processes", list);
		if (!err)
			err = add_process(target, proc, (uint32_t)pid);
	} while (!err && *at);
	return err;
}

struct imp_error *target_add_threads(struct target *target, const char *list)
{
	const char *at = list;
	do {
		uint64_t tid;
		if (!next_number(&at, &tid))
			return list_error("threads", list);
		struct imp_error *err = target_add_thread(target, (uint32_t)tid);
		if (err)
			return err;
	} while (*at);
	return NULL;
}

// Opens a directory of the hierarchy that perf events know: the one of version 2, or version 1's
// perf_event. -1 (errno set) when PATH is none.
static int open_cgroup(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs status;
	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &status) &&
	    (status.f_type == CGROUP2_SUPER_MAGIC ||
	     (status.f_type == CGROUP_SUPER_MAGIC && strstr(path, "/perf_event"))))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

struct imp_error *target_add_cgroup(struct target *target, const char *name)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/perf_event",
					     "/sys/fs/cgroup/unified" };
	int fd = name[0] == '/' ? open_cgroup(name) : -1;
	for (size_t i = 0; fd < 0 && i < sizeof roots / sizeof *roots; i++) {
		_cleanup_free_ char *path = NULL;
		if (asprintf(&path, "%s/%s", roots[i], name) < 0)
			return &imp_error_no_memory;
		fd = open_cgroup(path);
	}
	if (fd < 0)
		return error_new(IMP_ERR_SYSTEM,
				 "cgroup %s: there is none of this name below /sys/fs/cgroup for "
				 "perf events",
				 name);
	int *item = array_add(&target->cgroups);
	if (!item) {
		close(fd);
		return &imp_error_no_memory;
	}
	*item = fd;
	return NULL;
}

// Adds the CPUs of LIST ("0-3,8", with a newline perhaps). False when it is no such list.
static bool add_cpus(struct target *target, const char *list)
{
	const char *at = list;
	while (*at && *at != '\n') {
		char *end;
		if (*at < '0' || *at > '9')
			return false;
		unsigned long first = strtoul(at, &end, 10), last = first;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= CPUS_MOST || (*end && *end != ',' && *end != '\n'))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++) {
			int *item = array_add(&target->cpus);
			if (!item)
				return false;
			*item = (int)cpu;
		}
		at = *end == ',' ? end + 1 : end;
	}
	return target->cpus.count;
}

static bool is_among(const struct target *target, int cpu)
{
	for (size_t i = 0; i < target->cpus.count; i++)
		if (target->cpus.items[i] == cpu)
			return true;
	return false;
}

// Adds the CPUs that have a "cpuN" line of their own in the text of proc_stat(5).
static bool add_cpus_with_times(struct target *target, const char *stat)
{
	for (const char *line = stat; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
			continue;
		unsigned long cpu = strtoul(line + 3, NULL, 10);
		int *item = cpu < CPUS_MOST ? array_add(&target->cpus) : NULL;
		if (!item)
			return false;
		*item = (int)cpu;
	}
	return target->cpus.count;
}

// The CPUs that are online, from sysfs; a container may have none: then from /proc/stat.
static struct imp_error *set_online(struct target *target)
{
	static const struct {
		const char *path;
		bool (*add)(struct target *, const char *);
	} sources[] = { { "/sys/devices/system/cpu/online", add_cpus },
			{ "/proc/stat", add_cpus_with_times } };
	struct imp_error *first = NULL;
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		_cleanup_buffer_ struct buffer text = { 0 };
		_cleanup_error_ struct imp_error *err =
			file_slurp_path(sources[i].path, STAT_MOST, &text);
		buffer_append(&text, "", 1);
		target->cpus.count = 0;
		if (!err && !text.failed && sources[i].add(target, (const char *)text.bytes)) {
			imp_error_free(first);
			return NULL;
		}
		if (!first)
			first = err ? steal(err)
				    : error_new(IMP_ERR_BAD_DATA, "%s names no CPU",
						sources[i].path);
	}
	return first;
}

struct imp_error *target_set_cpus(struct target *target, const char *list)
{
	struct imp_error *err = set_online(target);
	if (err || !list)
		return err;
	struct target wanted = { 0 };
	bool is_list = add_cpus(&wanted, list);
	for (size_t i = 0; is_list && !err && i < wanted.cpus.count; i++)
		if (!is_among(target, wanted.cpus.items[i]))
			err = error_new(IMP_ERR_USAGE, "CPU %d is not online",
					wanted.cpus.items[i]);
	if (!err && !is_list)
		err = list_error("CPUs", list);
	array_fini(&target->cpus);
	target->cpus.items = wanted.cpus.items;
	target->cpus.count = wanted.cpus.count;
	target->cpus.room = wanted.cpus.room;
	return err;
}
