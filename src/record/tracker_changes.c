// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files that are overwritten while they are mapped: from then on they are of no known build.
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "perfdata/record_build.h"
#include "record/tracker_parts.h"

bool tracker_is_changed(const struct met_image *image, struct stat *now)
{
	if (image->fd < 0 || fstat(image->fd, now))
		return false;
	return now->st_size != image->pinned.st_size ||
	       now->st_mtim.tv_sec != image->pinned.st_mtim.tv_sec ||
	       now->st_mtim.tv_nsec != image->pinned.st_mtim.tv_nsec;
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
	int64_t time =
		changed - (tracker_clock_ns(CLOCK_REALTIME) - tracker_clock_ns(CLOCK_MONOTONIC));
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
		    tracker_is_changed(&tracker->images.all.items[i], &now))
			mark_changed(tracker, i, &now);
	}
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_take(struct tracker *tracker, struct buffer *ret)
{
	pthread_mutex_lock(&tracker->lock);
	buffer_append(ret, tracker->extra.bytes, tracker->extra.size);
	tracker->extra.size = 0;
	pthread_mutex_unlock(&tracker->lock);
}
