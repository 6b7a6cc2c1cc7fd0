// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From records to images, pins and hits.
#include "record/tracker_parts.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/memory.h"
#include "model/image.h"
#include "perfdata/record_build.h"
#include "record/live_maps.h"
#include "record/pin.h"
#include "record/synthesize.h"

enum { TRIES_MOST = 3, MMAP2_FIXED_BYTES = 72 };

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
	if (image->fd >= 0 && !image->is_changed && !tracker_is_changed(image, &now))
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
	tracker_want_kept(tracker, number);
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
		tracker_want_kept(tracker, number);
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
		tracker_want_kept(tracker, number);
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
	tracker_want_kept(tracker, number);
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
