// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From records to images, pins and hits.
#include "record/tracker.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "live/memory.h"
#include "model/image.h"
#include "perfdata/feature_encode.h"
#include "perfdata/record_build.h"
#include "record/live_maps.h"
#include "record/pin.h"
#include "record/synthesize.h"

#define SECOND_NS INT64_C(1000000000)

enum { TRIES_MOST = 3, MMAP2_FIXED_BYTES = 72 };

struct tracker {
	struct tracker_options options;
	pthread_mutex_t lock;
	pthread_cond_t has_work;
	struct met_images images;
	struct live_maps maps;
	ARRAY_OF(uint32_t) queue;
	size_t queue_at;
	bool is_ending;
	bool was_full;
	size_t unreachable;
	struct build_id vdso_id;
	struct buffer extra;
};

void tracker_free(struct tracker *tracker)
{
	if (!tracker)
		return;
	met_images_fini(&tracker->images);
	live_maps_fini(&tracker->maps);
	array_fini(&tracker->queue);
	buffer_fini(&tracker->extra);
	pthread_cond_destroy(&tracker->has_work);
	pthread_mutex_destroy(&tracker->lock);
	free(tracker);
}

// The vdso that the kernel maps into 64-bit processes is our own.
static struct build_id own_vdso_id(const struct proc *proc)
{
	struct build_id none = { 0 };
	uint64_t address = getauxval(AT_SYSINFO_EHDR);
	enum proc_outcome outcome;
	if (!address)
		return none;
	_cleanup_close_ int memory = process_memory_open(proc, (uint32_t)getpid(), &outcome);
	if (memory < 0)
		return none;
	struct fd_bytes bytes = { .fd = memory, .offset = address };
	return elf_face_id(&(struct byte_source){
		.read = fd_bytes_read, .arg = &bytes, .is_loaded = true, .base = address });
}

struct imp_error *tracker_new(const struct tracker_options *options, struct tracker **ret)
{
	struct tracker *tracker = calloc(1, sizeof *tracker);
	if (!tracker)
		return &imp_error_no_memory;
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&tracker->has_work, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&tracker->lock, NULL);
	tracker->options = *options;
	tracker->vdso_id = own_vdso_id(options->proc);
	*ret = tracker;
	return NULL;
}

// Queues the image for keeping, if that is wanted and possible.
static void want_kept(struct tracker *tracker, uint32_t number)
{
	struct met_image *image = &tracker->images.all.items[number];
	bool is_wanted = tracker->options.capture == CAPTURE_ALL ||
			 (tracker->options.capture == CAPTURE_HIT && image->is_hit);
	bool has_file = !image->is_fileless || image->is_module;
	if (!is_wanted || !has_file || image->keeping != KEEPING_NONE)
		return;
	if (image->fd < 0 && !image->is_module) {
		image->keeping = KEEPING_REFUSED;
		image->refusal = "its file could not be reached while it was mapped";
		tracker->unreachable++;
		return;
	}
	uint32_t *slot = array_add(&tracker->queue);
	if (!slot)
		return;
	*slot = number;
	image->keeping = KEEPING_QUEUED;
	pthread_cond_signal(&tracker->has_work);
}

static void take_pin(struct tracker *tracker, uint32_t number, int fd)
{
	struct met_image *image = &tracker->images.all.items[number];
	if (fd < 0)
		return;
	if (image->fd >= 0 || tracker->images.open_count >= tracker->options.most_open ||
	    fstat(fd, &image->pinned)) {
		tracker->was_full |= image->fd < 0;
		close(fd);
		return;
	}
	image->fd = fd;
	tracker->images.open_count++;
	if (build_id_is_none(&image->id))
		image->id = fd_face_id(fd);
}

static bool is_changed(const struct met_image *image, struct stat *now)
{
	if (image->fd < 0 || fstat(image->fd, now))
		return false;
	return now->st_size != image->pinned.st_size ||
	       now->st_mtim.tv_sec != image->pinned.st_mtim.tv_sec ||
	       now->st_mtim.tv_nsec != image->pinned.st_mtim.tv_nsec;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

// When the file was changed, by the clock of the recording. A tool that sets times back (cp -p)
// leaves the time of the last change of the inode.
static uint64_t change_time(const struct met_image *image, const struct stat *now)
{
	int64_t pinned =
		(int64_t)image->pinned.st_mtim.tv_sec * SECOND_NS + image->pinned.st_mtim.tv_nsec;
	int64_t changed = (int64_t)now->st_mtim.tv_sec * SECOND_NS + now->st_mtim.tv_nsec;
	if (changed <= pinned)
		changed = (int64_t)now->st_ctim.tv_sec * SECOND_NS + now->st_ctim.tv_nsec;
	int64_t time = changed - (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
	return time > 0 ? (uint64_t)time : 1;
}

// Tells readers that MAPPING of PID is of no known build from the time on when its file was
// changed.
static void tell_changed(struct tracker *tracker, uint32_t pid, const struct live_mapping *mapping,
			 const struct met_image *image)
{
	struct mmap_record mmap = { .pid = pid,
				    .tid = pid,
				    .start = mapping->start,
				    .length = mapping->end - mapping->start,
				    .page_offset = mapping->offset,
				    .major = image->major,
				    .minor = image->minor,
				    .inode = image->pinned.st_ino,
				    .prot = PROT_READ | PROT_EXEC,
				    .flags = MAP_PRIVATE,
				    .path = image->path };
	struct stamp stamp = { .pid = pid, .tid = pid, .time = image->changed_ns };
	record_build_mmap(&tracker->extra, &mmap, MISC_USER, &stamp);
}

static void mark_changed(struct tracker *tracker, uint32_t number, const struct stat *now)
{
	struct met_image *image = &tracker->images.all.items[number];
	image->is_changed = true;
	image->changed_ns = change_time(image, now);
	for (size_t b = 0; b < LIVE_MAP_BUCKETS; b++) {
		const struct live_process *process = tracker->maps.buckets[b];
		for (; process; process = process->next) {
			const struct live_space *space = process->space;
			for (size_t i = 0; space && i < space->mappings.count; i++)
				if (space->mappings.items[i].image == number)
					tell_changed(tracker, process->pid,
						     &space->mappings.items[i], image);
		}
	}
}

void tracker_check_files(struct tracker *tracker)
{
	pthread_mutex_lock(&tracker->lock);
	for (uint32_t i = 0; i < tracker->images.all.count; i++) {
		struct stat now;
		if (!tracker->images.all.items[i].is_changed &&
		    is_changed(&tracker->images.all.items[i], &now))
			mark_changed(tracker, i, &now);
	}
	pthread_mutex_unlock(&tracker->lock);
}

static void add_mapping(struct tracker *tracker, uint32_t pid, const struct live_mapping *mapping)
{
	live_maps_map(&tracker->maps, pid, mapping);
	if (tracker->options.walk)
		sample_walk_forget(tracker->options.walk, pid);
}

// Gives RECORD the image's ID, when the kernel gave none and the file is still what it was.
static void give_id(struct tracker *tracker, uint32_t number, uint8_t *record, size_t size)
{
	const struct met_image *image = &tracker->images.all.items[number];
	struct stat now;
	if (image->fd >= 0 && !image->is_changed && !is_changed(image, &now))
		record_set_build_id(record, size, &image->id);
}

static void see_file(struct tracker *tracker, const struct mmap_record *mmap, uint8_t *record,
		     size_t size)
{
	struct image_key key = { .id = mmap->id,
				 .major = mmap->major,
				 .minor = mmap->minor,
				 .inode = mmap->inode,
				 .path = mmap->path };
	bool is_new;
	uint32_t number;
	struct imp_error *err = met_images_meet(&tracker->images, &key, &is_new, &number);
	if (err) {
		imp_error_free(err);
		return;
	}
	bool has_id = !build_id_is_none(&mmap->id);
	bool is_pin_wanted = tracker->options.capture != CAPTURE_NONE || !has_id;
	if (is_pin_wanted && tracker->images.all.items[number].fd < 0 &&
	    tracker->images.all.items[number].keeping == KEEPING_NONE) {
		struct pin_request request = { .pid = mmap->pid,
					       .start = mmap->start,
					       .end = mmap->start + mmap->length,
					       .path = mmap->path,
					       .id = mmap->id,
					       .major = mmap->major,
					       .minor = mmap->minor,
					       .inode = mmap->inode };
		take_pin(tracker, number, pin_open(tracker->options.proc, &request));
	}
	if (!has_id)
		give_id(tracker, number, record, size);
	struct live_mapping mapping = { .start = mmap->start,
					.end = mmap->start + mmap->length,
					.offset = mmap->page_offset,
					.image = number };
	add_mapping(tracker, mmap->pid, &mapping);
	want_kept(tracker, number);
}

// Meets an image that has no file.
static uint32_t meet_fileless(struct tracker *tracker, const struct build_id *id, const char *path,
			      bool is_kernel_side)
{
	struct image_key key = { .id = *id, .inode = UINT64_MAX, .path = path };
	bool is_new;
	uint32_t number;
	struct imp_error *err = met_images_meet(&tracker->images, &key, &is_new, &number);
	if (err) {
		imp_error_free(err);
		return NO_LIVE_IMAGE;
	}
	tracker->images.all.items[number].is_fileless = true;
	tracker->images.all.items[number].is_kernel_side = is_kernel_side;
	return number;
}

static void see_vdso(struct tracker *tracker, const struct mmap_record *mmap, uint8_t *record,
		     size_t size)
{
	// 32-bit processes have another vdso, of which only its place tells us here.
	if (mmap->start >> 32)
		record_set_build_id(record, size, &tracker->vdso_id);
	uint32_t number = meet_fileless(tracker, mmap->start >> 32 ? &tracker->vdso_id : &mmap->id,
					mmap->path, false);
	struct live_mapping mapping = { .start = mmap->start,
					.end = mmap->start + mmap->length,
					.image = number };
	if (number != NO_LIVE_IMAGE)
		add_mapping(tracker, mmap->pid, &mapping);
}

static void see_mmap(struct tracker *tracker, const struct record *whole, uint8_t *record)
{
	struct mmap_record mmap;
	struct imp_error *err = mmap_record_read(whole, &mmap);
	if (err) {
		imp_error_free(err);
		return;
	}
	if (mmap.is_data || (whole->misc & MISC_CPUMODE_MASK) != MISC_USER)
		return;
	switch (image_kind_of(mmap.path, MISC_USER)) {
	case IMAGE_USER:
		see_file(tracker, &mmap, record, whole->size);
		break;
	case IMAGE_VDSO:
		see_vdso(tracker, &mmap, record, whole->size);
		break;
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_MODULE:
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default: {
		// Hides what was mapped there before.
		struct live_mapping mapping = { .start = mmap.start,
						.end = mmap.start + mmap.length,
						.image = NO_LIVE_IMAGE };
		add_mapping(tracker, mmap.pid, &mapping);
	}
	}
}

static void see_task(struct tracker *tracker, const struct record *whole)
{
	struct task_record task;
	struct imp_error *err = task_record_read(whole, &task);
	if (err) {
		imp_error_free(err);
		return;
	}
	if (whole->type == RECORD_FORK && task.pid != task.parent_pid) {
		live_maps_fork(&tracker->maps, task.parent_pid, task.pid);
		if (tracker->options.walk)
			sample_walk_forget(tracker->options.walk, task.pid);
	} else if (whole->type == RECORD_EXIT && task.pid == task.tid) {
		live_maps_exit(&tracker->maps, task.pid);
	}
}

static void see_comm(struct tracker *tracker, const struct record *whole)
{
	struct comm_record comm;
	struct imp_error *err = comm_record_read(whole, &comm);
	if (!err && comm.is_exec) {
		live_maps_exec(&tracker->maps, comm.pid);
		if (tracker->options.walk)
			sample_walk_forget(tracker->options.walk, comm.pid);
	}
	imp_error_free(err);
}

bool tracker_see(void *arg, uint8_t *record, size_t size)
{
	struct tracker *tracker = arg;
	struct record whole = { .size = (uint32_t)size, .bytes = record };
	memcpy(&whole.type, record, sizeof whole.type);
	memcpy(&whole.misc, record + 4, sizeof whole.misc);
	pthread_mutex_lock(&tracker->lock);
	size_t met = tracker->images.all.count;
	if (whole.type == RECORD_MMAP2 && size > MMAP2_FIXED_BYTES)
		see_mmap(tracker, &whole, record);
	else if (whole.type == RECORD_FORK || whole.type == RECORD_EXIT)
		see_task(tracker, &whole);
	else if (whole.type == RECORD_COMM)
		see_comm(tracker, &whole);
	bool is_new = tracker->images.all.count > met;
	pthread_mutex_unlock(&tracker->lock);
	return is_new;
}

void tracker_see_mapped(void *arg, struct process_view *view, const struct mapped_file *file,
			const struct mapping *mapping)
{
	struct tracker *tracker = arg;
	bool is_file = file->kind == MAPPED_FILE || file->kind == MAPPED_MEMFD;
	if (!is_file && file->kind != MAPPED_VDSO)
		return;
	char path[RECORDED_PATH_ROOM];
	recorded_path(file, path);
	pthread_mutex_lock(&tracker->lock);
	struct image_key key = { .id = file->id,
				 .major = file->key.major,
				 .minor = file->key.minor,
				 .inode = file->key.inode,
				 .path = path };
	bool is_new;
	uint32_t number;
	struct imp_error *err = met_images_meet(&tracker->images, &key, &is_new, &number);
	if (!err) {
		if (!is_file)
			tracker->images.all.items[number].is_fileless = true;
		else if (tracker->options.capture != CAPTURE_NONE &&
			 tracker->images.all.items[number].fd < 0)
			take_pin(tracker, number,
				 mapped_file_open(view, file, mapping->start, mapping->end));
		struct live_mapping live = { .start = mapping->start,
					     .end = mapping->end,
					     .offset = mapping->offset,
					     .image = number };
		add_mapping(tracker, view->pid, &live);
		want_kept(tracker, number);
	}
	pthread_mutex_unlock(&tracker->lock);
	imp_error_free(err);
}

static void see_kernel_side(struct tracker *tracker, const struct kernel_module *image,
			    const char *path, bool is_module)
{
	pthread_mutex_lock(&tracker->lock);
	uint32_t number = meet_fileless(tracker, &image->id, path, true);
	struct live_mapping mapping = { .start = image->address,
					.end = image->address + image->size,
					.image = number };
	if (number != NO_LIVE_IMAGE) {
		tracker->images.all.items[number].is_module = is_module &&
							      !build_id_is_none(&image->id);
		add_mapping(tracker, KERNEL_PAGE_PID, &mapping);
		want_kept(tracker, number);
	}
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_see_kernel(struct tracker *tracker, const struct kernel *kernel,
			const struct kernel_text *text)
{
	uint64_t start = text->start ? text->start : UINT64_C(1) << 63;
	uint64_t end = text->end > start ? text->end : UINT64_MAX;
	struct kernel_module whole = { .id = kernel->id, .address = start, .size = end - start };
	see_kernel_side(tracker, &whole, "[kernel.kallsyms]", false);
}

void tracker_see_module(struct tracker *tracker, const struct kernel_module *module)
{
	char path[sizeof module->name + 2];
	snprintf(path, sizeof path, "[%s]", module->name);
	if (module->address && module->size)
		see_kernel_side(tracker, module, path, true);
}

static void mark_hit(struct tracker *tracker, uint32_t number)
{
	struct met_image *image = &tracker->images.all.items[number];
	if (image->is_hit)
		return;
	image->is_hit = true;
	want_kept(tracker, number);
}

static bool resolve_page(struct tracker *tracker, const struct code_page *page)
{
	uint32_t gone[GONE_MOST];
	size_t count =
		live_maps_find_gone(&tracker->maps, page->pid, page->address, gone, GONE_MOST);
	for (size_t i = 0; i < count; i++)
		mark_hit(tracker, gone[i]);
	const struct live_mapping *mapping = live_maps_at(&tracker->maps, page->pid, page->address);
	if (!mapping || mapping->image == NO_LIVE_IMAGE)
		return count > 0;
	mark_hit(tracker, mapping->image);
	if (tracker->options.walk && page->pid != KERNEL_PAGE_PID)
		sample_walk_know(tracker->options.walk, page->pid, mapping->start, mapping->end);
	return true;
}

// Address 0 stands for all that the process has mapped.
static bool resolve(struct tracker *tracker, const struct code_page *page, bool whole_process)
{
	if (!whole_process || page->pid == KERNEL_PAGE_PID)
		return resolve_page(tracker, page);
	const struct live_space *space = live_maps_of(&tracker->maps, page->pid);
	for (size_t i = 0; space && i < space->mappings.count; i++)
		if (space->mappings.items[i].image != NO_LIVE_IMAGE)
			mark_hit(tracker, space->mappings.items[i].image);
	return space;
}

void tracker_resolve(struct tracker *tracker, struct code_pages *pages)
{
	bool whole_process = tracker->options.walk && tracker->options.walk->whole_processes;
	size_t left = 0;
	pthread_mutex_lock(&tracker->lock);
	for (size_t i = 0; i < pages->count; i++) {
		struct code_page page = pages->items[i];
		if (resolve(tracker, &page, whole_process) || page.pid == KERNEL_PAGE_PID)
			continue;
		if (++page.tries < TRIES_MOST)
			pages->items[left++] = page;
	}
	pages->count = left;
	live_maps_next_round(&tracker->maps);
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_take(struct tracker *tracker, struct buffer *ret)
{
	pthread_mutex_lock(&tracker->lock);
	buffer_append(ret, tracker->extra.bytes, tracker->extra.size);
	tracker->extra.size = 0;
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_build_ids(struct tracker *tracker, struct buffer *ret)
{
	pthread_mutex_lock(&tracker->lock);
	// Readers find the kernel first in old tables, and one of them takes that for granted.
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < tracker->images.all.count; i++) {
			const struct met_image *image = &tracker->images.all.items[i];
			if (image->is_hit && image->is_kernel_side == !pass && !image->is_changed)
				feature_encode_build_id(ret, &image->id,
							image->is_kernel_side ? MISC_KERNEL
									      : MISC_USER,
							image->path);
		}
	}
	pthread_mutex_unlock(&tracker->lock);
}

struct imp_error *tracker_pids(struct tracker *tracker, struct pids *ret)
{
	struct imp_error *err = NULL;
	pthread_mutex_lock(&tracker->lock);
	for (size_t b = 0; !err && b < LIVE_MAP_BUCKETS; b++) {
		const struct live_process *process = tracker->maps.buckets[b];
		for (; !err && process; process = process->next) {
			if (process->ended || process->pid == KERNEL_PAGE_PID)
				continue;
			uint32_t *slot = array_add(ret);
			if (slot)
				*slot = process->pid;
			else
				err = &imp_error_no_memory;
		}
	}
	pthread_mutex_unlock(&tracker->lock);
	return err;
}

struct tracker_counts tracker_count(struct tracker *tracker)
{
	struct tracker_counts counts = { 0 };
	pthread_mutex_lock(&tracker->lock);
	for (size_t i = 0; i < tracker->images.all.count; i++) {
		const struct met_image *image = &tracker->images.all.items[i];
		counts.met++;
		counts.hit += image->is_hit;
		counts.with_id += !build_id_is_none(&image->id);
		counts.kept += image->keeping == KEEPING_DONE;
		counts.refused += image->keeping == KEEPING_REFUSED;
		counts.changed += image->is_changed;
	}
	counts.unreachable = tracker->unreachable;
	counts.was_full = tracker->was_full;
	pthread_mutex_unlock(&tracker->lock);
	return counts;
}

size_t tracker_notes(struct tracker *tracker, struct buffer *ret)
{
	size_t count = 0;
	pthread_mutex_lock(&tracker->lock);
	for (size_t i = 0; i < tracker->images.all.count; i++) {
		const struct met_image *image = &tracker->images.all.items[i];
		const char *reason = image->keeping == KEEPING_REFUSED ? image->refusal : NULL;
		if (image->is_changed && image->is_hit)
			reason = "its bytes were changed while it was mapped: of no known build "
				 "since then";
		if (!reason)
			continue;
		buffer_format(ret, "%s: %s", image->path, reason);
		buffer_append(ret, "", 1);
		count++;
	}
	pthread_mutex_unlock(&tracker->lock);
	return count;
}

static void fill_job(struct tracker *tracker, struct keep_job *ret)
{
	uint32_t number = tracker->queue.items[tracker->queue_at++];
	const struct met_image *image = &tracker->images.all.items[number];
	*ret = (struct keep_job){ .image = number,
				  .fd = image->is_module ? -1
							 : fcntl(image->fd, F_DUPFD_CLOEXEC, 0),
				  .is_module = image->is_module,
				  .id = image->id,
				  .pinned = image->pinned,
				  .path = strdup(image->path) };
}

bool tracker_next_job(struct tracker *tracker, int wait_ms, struct keep_job *ret, bool *has_job)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + (int64_t)wait_ms * 1000000;
	struct timespec deadline = { until / SECOND_NS, until % SECOND_NS };
	int status = 0;
	pthread_mutex_lock(&tracker->lock);
	while (tracker->queue_at == tracker->queue.count && !tracker->is_ending && !status)
		status = pthread_cond_timedwait(&tracker->has_work, &tracker->lock, &deadline);
	*has_job = tracker->queue_at < tracker->queue.count;
	if (*has_job)
		fill_job(tracker, ret);
	bool goes_on = *has_job || !tracker->is_ending;
	pthread_mutex_unlock(&tracker->lock);
	return goes_on;
}

void tracker_job_done(struct tracker *tracker, uint32_t number, const char *refusal)
{
	pthread_mutex_lock(&tracker->lock);
	struct met_image *image = &tracker->images.all.items[number];
	image->keeping = refusal ? KEEPING_REFUSED : KEEPING_DONE;
	image->refusal = refusal;
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_end_jobs(struct tracker *tracker)
{
	pthread_mutex_lock(&tracker->lock);
	tracker->is_ending = true;
	pthread_cond_signal(&tracker->has_work);
	pthread_mutex_unlock(&tracker->lock);
}
