// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The queue between who learns of hits and who keeps images.
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "record/tracker_parts.h"

int64_t tracker_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void tracker_want_kept(struct tracker *tracker, uint32_t number)
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
	int64_t until = tracker_clock_ns(CLOCK_MONOTONIC) + (int64_t)wait_ms * 1000000;
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
