// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A look at the records of sample rings while they are written: how many, how many lost, when, and
// which pages of code they stand in.
//
// The look costs a few nanoseconds a sample: most stand in a mapping of their process that is known
// to be hit; of the others, a page that was seen lately is known by one probe of a small table, and
// only new ones are handed on.
#ifndef RECORD_SAMPLE_WALK_H
#define RECORD_SAMPLE_WALK_H

#include "base/array.h"
#include "base/buffer.h"

#include <stdint.h>
#include <sys/uio.h>

// A place in code that was sampled.
struct code_page {
	// KERNEL_PAGE_PID for kernel code.
	uint32_t pid;
	// How often it was looked for in vain.
	uint32_t tries;
	uint64_t address;
};
#define KERNEL_PAGE_PID UINT32_MAX

struct code_pages {
	struct code_page *items;
	size_t count;
	size_t room;
};

// A mapping that needs no further look as long as its process maps nothing new.
struct known_range {
	uint32_t pid, generation;
	uint64_t start, size;
};

// The ranges of the processes whose numbers have the same remainder.
enum { RANGE_SLOTS = 256, RANGE_WAYS = 4 };
struct known_ranges {
	struct known_range ways[RANGE_WAYS];
	unsigned next;
};

enum { PAGE_TABLE_BITS = 14, PAGE_TABLE_SIZE = 1 << PAGE_TABLE_BITS, GENERATIONS = 1 << 12 };

struct sample_walk {
	uint64_t samples, lost;
	uint64_t first_ns, last_ns;
	// Bytes from a sample's start to its call chain; 0 when it has none.
	unsigned chain_at;
	bool has_branches;
	bool wants_pages;
	// The kernel's own text, of which one hit is enough to know: no page of it is handed on
	// once `kernel_is_hit`.
	uint64_t kernel_start, kernel_size;
	bool kernel_is_hit;
	// Only the process counts: its code is found from copies of stacks later.
	bool whole_processes;
	uint64_t *seen;
	struct known_ranges *ranges;
	// A process that maps something new gets a new generation, so that its pages are looked at
	// anew. Changed by the thread that reads meta records.
	uint32_t generations[GENERATIONS];
	// The pages first seen by the last walks; the caller empties it.
	struct code_pages pages;
	struct buffer scratch;
};

// SAMPLE_TYPE is that of all sampled events. False when memory ran out.
bool sample_walk_init(struct sample_walk *walk, uint64_t sample_type);
void sample_walk_fini(struct sample_walk *walk);

// Looks at the records in PARTS, whole ones, of which one may be cut in two by the end of the first
// part.
void sample_walk(struct sample_walk *walk, const struct iovec *parts, int count);

// How many of SIZE bytes of records, the newest first, are younger than UNTIL_NS.
size_t sample_walk_newer(const uint8_t *bytes, size_t size, uint64_t until_ns);

// From START to END is one mapping of process PID, and known to be hit. To be called while nothing
// can make it map something else.
void sample_walk_know(struct sample_walk *walk, uint32_t pid, uint64_t start, uint64_t end);

// Process PID has mapped something, or is a new one.
static inline void sample_walk_forget(struct sample_walk *walk, uint32_t pid)
{
	__atomic_fetch_add(&walk->generations[pid % GENERATIONS], 1, __ATOMIC_RELAXED);
}

#endif
