// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A ring of records that the kernel fills and we empty, or (backward) that it overwrites for ever
// and we look at.
//
// Source: include/uapi/linux/perf_event.h, struct perf_event_mmap_page.
#ifndef LIVE_RING_H
#define LIVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct ring {
	void *pages;
	size_t pages_size;
	uint8_t *records;
	uint64_t size;
	// Of the event whose ring this is (lent).
	int fd;
	bool is_backward;
};

// Maps the ring of FD with SIZE bytes of records (a power of two of pages). 0 or a negative errno
// value.
int ring_map(int fd, size_t size, bool is_backward, struct ring *ret);
void ring_unmap(struct ring *ring);

// The records that wait, in one or two pieces (two when they wrap). Their sum is returned.
size_t ring_waiting(const struct ring *ring, struct iovec parts[2], int *count);
// Gives SIZE bytes at the tail back to the kernel.
void ring_consume(struct ring *ring, size_t size);

// Of a backward ring whose event is paused: its whole records, the newest first, copied to BYTES of
// at least ring->size bytes; their sum is returned.
size_t ring_snapshot(const struct ring *ring, uint8_t *bytes);

#endif
