// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where samples were seen: pages of processes, and between which times, small enough to be kept
// until it is known what was mapped there.
//
// A sighting stands for samples of a process in 64 neighbouring cells of addresses that came not
// too long after one another. Which of the cells were seen is known for certain, when each was is
// only known to lie between two times.
#ifndef ANALYZE_SIGHTINGS_H
#define ANALYZE_SIGHTINGS_H

#include "analyze/survey.h"
#include "base/array.h"

enum {
	SIGHTING_CELLS = 64,
	// Cells are pages, but where the kernel puts modules and BPF programs, several to a page,
	// they are what its allocator of such programs counts in.
	SIGHTING_PAGE_SHIFT = 12,
	SIGHTING_FINE_SHIFT = 6,
};

#define KERNEL_MODULES_AT UINT64_C(0xffffffffa0000000)

struct sighting {
	// cpumode << 32 | process; the kernel's are of process 0.
	uint64_t owner;
	// The first cell's address, with the cells' size (as a power of two) in its low bits.
	uint64_t window;
	uint64_t cells;
	uint64_t first, last;
};

struct sightings {
	ARRAY_OF(struct sighting) all;
};

static inline uint64_t sighting_owner(unsigned cpumode, uint32_t pid)
{
	bool is_kernel = cpumode == MISC_KERNEL || cpumode == MISC_HYPERVISOR;
	return (uint64_t)cpumode << 32 | (is_kernel ? 0 : pid);
}

// The window that ADDRESS is in.
static inline uint64_t sighting_window(uint64_t address)
{
	unsigned shift = address >= KERNEL_MODULES_AT ? SIGHTING_FINE_SHIFT : SIGHTING_PAGE_SHIFT;
	return (address >> shift & ~(uint64_t)(SIGHTING_CELLS - 1)) << shift | shift;
}

// Its upper bits are the good ones.
static inline uint64_t sighting_hash(uint64_t owner, uint64_t window)
{
	return (window ^ owner << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

// Collects the sightings of a chunk, on any thread.
struct sighter;

struct imp_error *sighter_new(const struct survey *survey, struct sighter **ret) MUST_CHECK;
void sighter_free(struct sighter *sighter);

// Takes the addresses of a SAMPLE or CALLCHAIN_DEFERRED record.
void sighter_take(struct sighter *sighter, const struct record *record);

// Takes note of an MMAP, MMAP2, COMM, FORK or EXIT record: what its process has mapped changes, and
// what is seen of it later is kept apart from what was seen before. Without it sightings would be
// as true, but leave more in doubt.
void sighter_note(struct sighter *sighter, const struct record *record);

// No more records: gives what was seen to RET, which the caller frees the items of. The same cells
// may be in several.
struct imp_error *sighter_finish(struct sighter *sighter, struct sightings *ret) MUST_CHECK;

#endif
