// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the tracker's files share: all of it is to be touched under its lock.
#ifndef RECORD_TRACKER_PARTS_H
#define RECORD_TRACKER_PARTS_H

#include <pthread.h>
#include <time.h>

#include "record/live_maps.h"
#include "record/tracker.h"

#define SECOND_NS INT64_C(1000000000)

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

// Queues the image for keeping, if that is wanted and possible.
void tracker_want_kept(struct tracker *tracker, uint32_t number);

// Whether the pinned file is another than when it was pinned, which *now tells.
bool tracker_is_changed(const struct met_image *image, struct stat *now);

int64_t tracker_clock_ns(clockid_t clock);

#endif
