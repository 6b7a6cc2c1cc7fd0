// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One thread between the tracker's queue and the store.
#include "record/keeper.h"

#include <linux/ioprio.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/elf_image.h"
#include "live/maps.h"
#include "live/memory.h"
#include "record/kept.h"
#include "record/module_file.h"

enum { CHECK_MS = 500, KALLSYMS_MOST = 1 << 28, BACKGROUND_NICE = 10 };

struct keeper {
	struct tracker *tracker;
	struct store *store;
	struct store_batch *batch;
	// NULL without memory for it: then each image is asked for by its ID.
	struct store_seen *seen;
	struct store_batch_counts counts;
	pthread_t thread;
	pid_t thread_id;
	bool is_running;
	pthread_mutex_t lock;
	struct kernel kernel;
	bool wants_kernel, wants_symbols;
	// The first failure of the store; nothing is tried after it.
	struct imp_error *error;
};

static void add_counts(struct store_batch_counts *to, const struct store_batch_counts *from)
{
	to->added += from->added;
	to->known += from->known;
	to->collisions += from->collisions;
	to->added_bytes += from->added_bytes;
}

// Makes what was added visible to others, and durable.
static void commit(struct keeper *keeper)
{
	struct store_batch_counts counts = { 0 };
	if (!keeper->batch)
		return;
	struct imp_error *err = store_batch_commit(steal(keeper->batch), &counts);
	add_counts(&keeper->counts, &counts);
	if (keeper->error)
		imp_error_free(err);
	else
		keeper->error = err;
}

// How much IMAGE tells of names.
static enum store_rank rank_of_image(struct elf_image *image)
{
	if (elf_image_has_dwarf(image))
		return STORE_DWARF;
	if (elf_image_has_symtab(image))
		return STORE_SYMTAB;
	return elf_image_has_debugdata(image) ? STORE_MINI : STORE_STRIPPED;
}

static enum store_rank rank_of(int fd, const char *path)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open_fd(dup(fd), path, 0, &image);
	if (!err)
		return rank_of_image(image);
	imp_error_free(err);
	return STORE_STRIPPED;
}

static bool is_unchanged(int fd, const struct stat *pinned)
{
	struct stat now;
	return !fstat(fd, &now) && now.st_size == pinned->st_size &&
	       now.st_mtim.tv_sec == pinned->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == pinned->st_mtim.tv_nsec;
}

static struct imp_error *begin_batch(struct keeper *keeper)
{
	return keeper->batch ? NULL : store_batch_new(keeper->store, &keeper->batch);
}

static struct imp_error *add_to_batch(struct keeper *keeper, const struct store_item *item, int fd)
{
	struct imp_error *err = begin_batch(keeper);
	return err ? err : store_batch_add_fd(keeper->batch, item, fd);
}

// The kernel's files may be compressed: the bytes are kept as they were loaded.
static const char *keep_image(struct keeper *keeper, struct elf_image *image, const char *path)
{
	struct store_item item = { .id = *elf_image_id(image),
				   .role = STORE_EXECUTABLE,
				   .rank = rank_of_image(image),
				   .path = path };
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	struct imp_error *err = begin_batch(keeper);
	if (!err)
		err = store_batch_add_memory(keeper->batch, &item, bytes, size);
	if (!err)
		return NULL;
	keeper->error = err;
	return "the store could not take it";
}

// Keeps the file of a module, when what modules.dep calls so is of the build that was loaded.
static const char *keep_module(struct keeper *keeper, const struct keep_job *job)
{
	char dir[sizeof keeper->kernel.release + sizeof "/lib/modules/"];
	_cleanup_free_ char *path = NULL;
	_cleanup_elf_image_ struct elf_image *image = NULL;
	int fd;
	if (!job->path || keeper->error)
		return "the store could not take it";
	if (kept_role(keeper->store, &job->id, STORE_EXECUTABLE)) {
		keeper->counts.known++;
		return NULL;
	}
	pthread_mutex_lock(&keeper->lock);
	snprintf(dir, sizeof dir, "/lib/modules/%s", keeper->kernel.release);
	pthread_mutex_unlock(&keeper->lock);
	struct imp_error *err = module_file_open(dir, job->path, &fd, &path);
	if (!err && fd >= 0)
		err = elf_image_open_fd(fd, path, 0, &image);
	imp_error_free(err);
	if (!image)
		return "its file is not where modules.dep tells, or cannot be read";
	if (!build_id_equal(elf_image_id(image), &job->id))
		return "the file that modules.dep tells is of another build";
	return keep_image(keeper, image, path);
}

static bool is_kept(struct keeper *keeper, const struct keep_job *job,
		    const struct store_item *item)
{
	if (keeper->seen && store_seen_knows(keeper->seen, job->path, &job->pinned)) {
		struct build_id id = fd_face_id(job->fd);
		if (build_id_equal(&id, &job->id))
			return true;
	}
	if (build_id_is_none(&job->id))
		return store_knows_path(keeper->store, job->path, &job->pinned);
	if (store_knows_file(keeper->store, item, &job->pinned))
		return true;
	// Files without a name (in memory) have an inode of their own each time.
	return !job->pinned.st_nlink &&
	       kept_bytes(keeper->store, &job->id, job->fd, (uint64_t)job->pinned.st_size);
}

// Keeps one image; why not, or NULL.
static const char *keep(struct keeper *keeper, const struct keep_job *job)
{
	if (job->is_module)
		return keep_module(keeper, job);
	if (job->fd < 0 || !job->path)
		return "its file could not be held open";
	if (!is_unchanged(job->fd, &job->pinned))
		return "its bytes were changed while it was mapped";
	struct store_item item = { .id = job->id, .role = STORE_EXECUTABLE, .path = job->path };
	if (is_kept(keeper, job, &item)) {
		keeper->counts.known++;
		return NULL;
	}
	struct build_id id = fd_face_id(job->fd);
	if (!build_id_equal(&id, &job->id) &&
	    !(build_id_is_none(&id) && build_id_is_none(&job->id)))
		return "its bytes are not those of the build that was mapped";
	if (keeper->error)
		return "the store could not take it";
	item.rank = rank_of(job->fd, job->path);
	struct imp_error *err = add_to_batch(keeper, &item, job->fd);
	if (err && is_unchanged(job->fd, &job->pinned)) {
		keeper->error = err;
		return "the store could not take it";
	}
	imp_error_free(err);
	return is_unchanged(job->fd, &job->pinned) ? NULL
						   : "its bytes were changed while it was copied";
}

// The bytes of the vdso, which is mapped into us as into everybody.
static struct imp_error *read_vdso(struct buffer *ret)
{
	_cleanup_proc_ struct proc *proc = NULL;
	_cleanup_mapped_files_ struct mapped_files *files = NULL;
	_cleanup_mappings_ struct mappings mappings = { 0 };
	enum proc_outcome outcome;
	uint32_t self = (uint32_t)getpid();
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = mapped_files_new(MAPPED_WITHOUT_IDS, &files);
	if (!err)
		err = maps_read(proc, self, NULL, files, &mappings, &outcome);
	for (size_t i = 0; !err && !ret->size && i < mappings.count; i++) {
		const struct mapping *mapping = &mappings.items[i];
		if (mapped_files_at(files, mapping->file)->kind == MAPPED_VDSO)
			err = process_vdso_read(proc, self, mapping->start, mapping->end, ret);
	}
	return err;
}

static void keep_vdso(struct keeper *keeper)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = read_vdso(&bytes);
	if (!err && bytes.size)
		err = elf_image_open_memory(bytes.bytes, bytes.size, "[vdso]", &image);
	if (!err && image && !build_id_is_none(elf_image_id(image)) &&
	    !kept_role(keeper->store, elf_image_id(image), STORE_VDSO)) {
		struct store_item item = { .id = *elf_image_id(image),
					   .role = STORE_VDSO,
					   .path = "[vdso]" };
		err = store_add_memory(keeper->store, &item, bytes.bytes, bytes.size, NULL);
	}
	imp_error_free(err);
}

static void keep_text(struct keeper *keeper, enum store_role role, const struct buffer *text)
{
	struct store_item item = { .id = keeper->kernel.id,
				   .role = role,
				   .path = "[kernel.kallsyms]" };
	imp_error_free(store_add_memory(keeper->store, &item, text->bytes, text->size, NULL));
}

static void keep_kallsyms(struct keeper *keeper)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	if (kept_role(keeper->store, &keeper->kernel.id, STORE_KALLSYMS))
		return;
	struct imp_error *err = file_slurp_path("/proc/kallsyms", KALLSYMS_MOST, &text);
	if (!err && text.size)
		keep_text(keeper, STORE_KALLSYMS, &text);
	imp_error_free(err);
}

static void keep_modules(struct keeper *keeper)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp_path("/proc/modules", KALLSYMS_MOST, &text);
	if (!err && text.size &&
	    !kept_modules(keeper->store, &keeper->kernel.id, (const char *)text.bytes, text.size))
		keep_text(keeper, STORE_MODULES, &text);
	imp_error_free(err);
}

// What the kernel says of itself; once for a kernel as long as its modules stay the same.
static void keep_kernel(struct keeper *keeper)
{
	keep_vdso(keeper);
	if (build_id_is_none(&keeper->kernel.id) || !keeper->wants_symbols)
		return;
	keep_kallsyms(keeper);
	keep_modules(keeper);
}

// Linux lets a thread have priorities of its own. Neither is needed for the work to be done.
static void be_modest(pid_t thread)
{
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	(void)setpriority(PRIO_PROCESS, (id_t)thread, BACKGROUND_NICE);
}

// The recording has ended, and somebody waits for the rest. Needs a permission.
static void be_quick(pid_t thread)
{
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0));
	(void)setpriority(PRIO_PROCESS, (id_t)thread, 0);
}

static void work_once(struct keeper *keeper, bool has_job, struct keep_job *job)
{
	if (has_job) {
		tracker_job_done(keeper->tracker, job->image, keep(keeper, job));
		if (job->fd >= 0)
			close(job->fd);
		free(job->path);
		return;
	}
	pthread_mutex_lock(&keeper->lock);
	bool wants_kernel = keeper->wants_kernel;
	keeper->wants_kernel = false;
	pthread_mutex_unlock(&keeper->lock);
	if (wants_kernel)
		keep_kernel(keeper);
	commit(keeper);
	tracker_check_files(keeper->tracker);
}

static void *run(void *arg)
{
	struct keeper *keeper = arg;
	struct keep_job job;
	bool has_job;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	be_modest(thread);
	__atomic_store_n(&keeper->thread_id, thread, __ATOMIC_RELEASE);
	while (tracker_next_job(keeper->tracker, CHECK_MS, &job, &has_job))
		work_once(keeper, has_job, &job);
	work_once(keeper, false, NULL);
	return NULL;
}

struct imp_error *keeper_start(struct tracker *tracker, struct store *store, struct keeper **ret)
{
	struct keeper *keeper = calloc(1, sizeof *keeper);
	if (!keeper)
		return &imp_error_no_memory;
	keeper->tracker = tracker;
	keeper->store = store;
	imp_error_free(store_seen_new(store, &keeper->seen));
	pthread_mutex_init(&keeper->lock, NULL);
	int status = pthread_create(&keeper->thread, NULL, run, keeper);
	if (status) {
		keeper_free(keeper);
		return error_system(status, "cannot start a thread");
	}
	keeper->is_running = true;
	*ret = keeper;
	return NULL;
}

void keeper_keep_kernel(struct keeper *keeper, const struct kernel *kernel, bool is_hidden)
{
	pthread_mutex_lock(&keeper->lock);
	keeper->kernel = *kernel;
	keeper->wants_kernel = true;
	keeper->wants_symbols = !is_hidden;
	pthread_mutex_unlock(&keeper->lock);
}

static void join(struct keeper *keeper)
{
	if (!keeper->is_running)
		return;
	pid_t thread = __atomic_load_n(&keeper->thread_id, __ATOMIC_ACQUIRE);
	if (thread)
		be_quick(thread);
	tracker_end_jobs(keeper->tracker);
	pthread_join(keeper->thread, NULL);
	keeper->is_running = false;
}

struct imp_error *keeper_finish(struct keeper *keeper, struct store_batch_counts *ret)
{
	join(keeper);
	*ret = keeper->counts;
	return steal(keeper->error);
}

void keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return;
	join(keeper);
	commit(keeper);
	imp_error_free(keeper->error);
	store_seen_free(keeper->seen);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}
