// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Heads and tails.
#include "live/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_BYTES = 8 };

int ring_map(int fd, size_t size, bool is_backward, struct ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	// A ring that may not be written to is one that the kernel overwrites.
	int protection = is_backward ? PROT_READ : PROT_READ | PROT_WRITE;
	void *pages = mmap(NULL, page + size, protection, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED)
		return -errno;
	*ret = (struct ring){ .pages = pages,
			      .pages_size = page + size,
			      .records = (uint8_t *)pages + page,
			      .size = size,
			      .fd = fd,
			      .is_backward = is_backward };
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->pages)
		munmap(ring->pages, ring->pages_size);
	ring->pages = NULL;
}

size_t ring_waiting(const struct ring *ring, struct iovec parts[2], int *count)
{
	const struct perf_event_mmap_page *control = ring->pages;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->data_tail;
	size_t waiting = (size_t)(head - tail);
	*count = 0;
	if (!waiting)
		return 0;
	size_t start = tail & (ring->size - 1);
	size_t first = waiting < ring->size - start ? waiting : ring->size - start;
	parts[(*count)++] = (struct iovec){ ring->records + start, first };
	if (first < waiting)
		parts[(*count)++] = (struct iovec){ ring->records, waiting - first };
	return waiting;
}

void ring_consume(struct ring *ring, size_t size)
{
	struct perf_event_mmap_page *control = ring->pages;
	__atomic_store_n(&control->data_tail, control->data_tail + size, __ATOMIC_SEQ_CST);
}

// Copies SIZE bytes from position AT, which may wrap.
static void copy_out(const struct ring *ring, uint64_t at, uint8_t *bytes, size_t size)
{
	size_t start = at & (ring->size - 1);
	size_t first = size < ring->size - start ? size : ring->size - start;
	memcpy(bytes, ring->records + start, first);
	memcpy(bytes + first, ring->records, size - first);
}

size_t ring_snapshot(const struct ring *ring, uint8_t *bytes)
{
	const struct perf_event_mmap_page *control = ring->pages;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	size_t done = 0;
	// The head goes downwards from 0, so the newest record begins at it; what was never written
	// is zero, and what was overwritten half is cut off by the size of the ring.
	while (done + HEADER_BYTES <= ring->size) {
		uint8_t header[HEADER_BYTES];
		uint16_t size;
		copy_out(ring, head + done, header, sizeof header);
		memcpy(&size, header + 6, sizeof size);
		if (size < HEADER_BYTES || done + size > ring->size)
			break;
		copy_out(ring, head + done, bytes + done, size);
		done += size;
	}
	return done;
}
