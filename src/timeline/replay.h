// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Replays meta records in the order of time, which makes address spaces and names of threads.
#ifndef TIMELINE_REPLAY_H
#define TIMELINE_REPLAY_H

#include "timeline/changes.h"
#include "timeline/meta.h"

// What a mapping is of; its index is the value of its range.
struct mapped {
	// An address less this is an offset in the image.
	uint64_t base;
	uint32_t image;
};

// Zero-initialised is empty.
struct replay {
	struct spaces spaces;
	// By thread: numbers in `names`. By thread: the metas' sets. By number of the cgroup:
	// `names`.
	struct changes comms, namespaces, cgroups;
	struct strings names;
	ARRAY_OF(struct mapped) mapped;
};

void replay_fini(struct replay *replay);

// Replays those of METAS, which are sorted, that are older than UNTIL and were not replayed yet.
struct imp_error *replay_run(struct replay *replay, struct metas *metas, uint64_t until) MUST_CHECK;

// Forgets all but the names of threads that METAS count.
void replay_reset(struct replay *replay);

// Maps the whole of the kernel's side as IMAGE, of which nothing was recorded.
struct imp_error *replay_map_kernel(struct replay *replay, uint32_t image) MUST_CHECK;

#endif
