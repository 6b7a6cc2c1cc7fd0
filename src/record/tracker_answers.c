// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the tracker knows, for those who ask at the end.
#include "perfdata/feature_encode.h"
#include "record/tracker_parts.h"

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
