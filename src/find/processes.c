// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The mappings of processes, each file once, opened through the mapping itself.
#include "find/processes.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "live/maps.h"
#include "live/process.h"

// The first mapping of a file.
struct mapped_build {
	struct build_id id;
	uint32_t pid, file;
	uint64_t start, end;
};

struct added_process {
	uint32_t pid;
	int64_t written_s;
};

struct processes {
	pthread_mutex_t lock;
	struct proc *proc;
	struct mapped_files *files;
	ARRAY_OF(struct added_process) added;
	// How many of them were read.
	size_t read_count;
	ARRAY_OF(struct mapped_build) builds;
};

struct processes *processes_new(void)
{
	struct processes *processes = calloc(1, sizeof *processes);
	if (processes)
		pthread_mutex_init(&processes->lock, NULL);
	return processes;
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	mapped_files_free(processes->files);
	proc_free(processes->proc);
	array_fini(&processes->added);
	array_fini(&processes->builds);
	pthread_mutex_destroy(&processes->lock);
	free(processes);
}

struct imp_error *processes_add(struct processes *processes, uint32_t pid, int64_t written_s)
{
	pthread_mutex_lock(&processes->lock);
	struct added_process *slot = array_add(&processes->added);
	if (slot)
		*slot = (struct added_process){ pid, written_s };
	pthread_mutex_unlock(&processes->lock);
	return slot ? NULL : &imp_error_no_memory;
}

static bool is_known(const struct processes *processes, const struct build_id *id)
{
	for (size_t i = 0; i < processes->builds.count; i++)
		if (build_id_equal(&processes->builds.items[i].id, id))
			return true;
	return false;
}

// The process began before the time that goes with it.
static bool is_old_enough(const struct processes *processes, const struct added_process *added)
{
	// The clocks are read one after the other, and files' times are coarse.
	enum { SLACK_S = 2 };
	struct process process;
	struct timespec now, up;
	if (!added->written_s)
		return true;
	if (process_read(processes->proc, added->pid, 0, &process) != PROC_READ ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0 || clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return false;
	int64_t began = now.tv_sec - up.tv_sec +
			(int64_t)(process.start_ticks / (uint64_t)sysconf(_SC_CLK_TCK));
	return began <= added->written_s + SLACK_S;
}

static struct imp_error *read_process(struct processes *processes, uint32_t pid)
{
	_cleanup_mappings_ struct mappings mappings = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err =
		maps_read(processes->proc, pid, NULL, processes->files, &mappings, &outcome);
	for (size_t i = 0; i < mappings.count && !err; i++) {
		const struct mapping *mapping = &mappings.items[i];
		const struct mapped_file *file = mapped_files_at(processes->files, mapping->file);
		if (!file->id.size || is_known(processes, &file->id))
			continue;
		struct mapped_build *build = array_add(&processes->builds);
		if (!build)
			return &imp_error_no_memory;
		*build = (struct mapped_build){ .id = file->id,
						.pid = pid,
						.file = mapping->file,
						.start = mapping->start,
						.end = mapping->end };
	}
	return err;
}

// Reads the processes that were added since. Called under the lock.
static struct imp_error *read_waiting(struct processes *processes)
{
	struct imp_error *err = NULL;
	bool is_waiting = processes->read_count < processes->added.count;
	if (is_waiting && !processes->proc)
		err = proc_open(NULL, &processes->proc);
	if (!err && is_waiting && !processes->files)
		err = mapped_files_new(0, &processes->files);
	while (!err && processes->read_count < processes->added.count) {
		const struct added_process *next = &processes->added.items[processes->read_count++];
		if (is_old_enough(processes, next))
			err = read_process(processes, next->pid);
	}
	return err;
}

static struct imp_error *open_build(struct processes *processes, const struct mapped_build *build,
				    int *ret, char **place)
{
	struct process_view view = process_view_of(processes->proc, build->pid);
	int fd = mapped_file_open(&view, mapped_files_at(processes->files, build->file),
				  build->start, build->end);
	if (fd < 0)
		return NULL;
	if (asprintf(place, "/proc/%u/map_files/%llx-%llx", build->pid,
		     (unsigned long long)build->start, (unsigned long long)build->end) < 0) {
		close(fd);
		return &imp_error_no_memory;
	}
	*ret = fd;
	return NULL;
}

struct imp_error *processes_open(struct processes *processes, const struct build_id *id,
				 bool padded, int *ret, char **place)
{
	*ret = -1;
	*place = NULL;
	pthread_mutex_lock(&processes->lock);
	struct imp_error *err = read_waiting(processes);
	for (size_t i = 0; i < processes->builds.count && !err && *ret < 0; i++) {
		const struct mapped_build *build = &processes->builds.items[i];
		if (padded ? build_id_equal_padded(id, &build->id) : build_id_equal(id, &build->id))
			err = open_build(processes, build, ret, place);
	}
	pthread_mutex_unlock(&processes->lock);
	return err;
}

// Called under the lock.
static struct imp_error *open_map(struct processes *processes, const struct added_process *added,
				  int *ret, char **place)
{
	struct imp_error *err = NULL;
	char path[48];
	if (!processes->proc)
		err = proc_open(NULL, &processes->proc);
	if (err || !is_old_enough(processes, added))
		return err;
	struct process_view view = process_view_of(processes->proc, added->pid);
	enum proc_outcome outcome;
	snprintf(path, sizeof path, "/tmp/perf-%u.map",
		 process_inner_pid(processes->proc, added->pid));
	int fd = process_view_open(&view, path, &outcome);
	if (fd < 0)
		return NULL;
	if (asprintf(place, "/proc/%u/root%s", added->pid, path) < 0) {
		close(fd);
		*place = NULL;
		return &imp_error_no_memory;
	}
	*ret = fd;
	return NULL;
}

struct imp_error *processes_open_map(struct processes *processes, uint32_t pid, int *ret,
				     char **place)
{
	struct imp_error *err = NULL;
	*ret = -1;
	*place = NULL;
	pthread_mutex_lock(&processes->lock);
	for (size_t i = 0; i < processes->added.count && !err && *ret < 0; i++)
		if (processes->added.items[i].pid == pid)
			err = open_map(processes, &processes->added.items[i], ret, place);
	pthread_mutex_unlock(&processes->lock);
	return err;
}
