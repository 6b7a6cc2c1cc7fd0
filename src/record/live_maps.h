// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What every process has mapped at the moment, as numbers of images: enough to tell which image a
// sampled address lies in. (Readers rebuild the whole history from the records; this is only for
// the recorder's own decisions.)
#ifndef RECORD_LIVE_MAPS_H
#define RECORD_LIVE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct live_mapping {
	uint64_t start, end, offset;
	uint32_t image;
};

struct live_space {
	ARRAY_OF(struct live_mapping) mappings;
	// Processes that share it since a fork, until one of them changes it.
	uint32_t owners;
};

// What was mapped until that round.
struct gone_mapping {
	struct live_mapping mapping;
	uint64_t round;
};

enum { GONE_MOST = 8 };

struct live_process {
	uint32_t pid;
	struct live_space *space;
	// What it had before its last exec.
	struct live_space *left;
	uint64_t left_round;
	struct gone_mapping gone[GONE_MOST];
	unsigned gone_next;
	// The round in which it ended, or 0.
	uint64_t ended;
	struct live_process *next;
};

enum { LIVE_MAP_BUCKETS = 4096 };

// Zero-initialised is empty.
struct live_maps {
	struct live_process *buckets[LIVE_MAP_BUCKETS];
	uint64_t round;
	size_t ended_count;
};

void live_maps_fini(struct live_maps *maps);

// Each false when memory ran out.

// PID maps IMAGE from START to END, replacing what was there.
bool live_maps_map(struct live_maps *maps, uint32_t pid, const struct live_mapping *mapping);
// CHILD begins with what PARENT has mapped.
bool live_maps_fork(struct live_maps *maps, uint32_t parent, uint32_t child);
// PID has nothing mapped any more.
bool live_maps_exec(struct live_maps *maps, uint32_t pid);

// PID has ended; what it had mapped is known for three more rounds, because its samples may come
// later than its end.
void live_maps_exit(struct live_maps *maps, uint32_t pid);
void live_maps_next_round(struct live_maps *maps);

enum { NO_LIVE_IMAGE = UINT32_MAX };
// The image at ADDRESS in PID, or NO_LIVE_IMAGE.
uint32_t live_maps_find(const struct live_maps *maps, uint32_t pid, uint64_t address);
// The mapping there, or NULL; lent until PID maps something else.
const struct live_mapping *live_maps_at(const struct live_maps *maps, uint32_t pid,
					uint64_t address);

// The images that stood there until lately, whose samples may come later than what took their
// place: up to ROOM of them, and how many.
size_t live_maps_find_gone(const struct live_maps *maps, uint32_t pid, uint64_t address,
			   uint32_t *images, size_t room);

// What PID has mapped, or NULL.
const struct live_space *live_maps_of(const struct live_maps *maps, uint32_t pid);

#endif
