// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking samples of the one layout that our events have.
#include "record/sample_walk.h"

#include <linux/perf_event.h>
#include <string.h>

#include "perfdata/record_build.h"

enum {
	HEADER_SIZE = 8,
	IP_AT = 16,
	TID_AT = 24,
	TIME_AT = 32,
	FIXED_END = 40,
	PAGE_BITS = 12,
};
// Chain entries from here on are markers, not addresses.
#define FIRST_MARKER ((uint64_t)-4095)
#define KERNEL_HALF (UINT64_C(1) << 63)

bool sample_walk_init(struct sample_walk *walk, uint64_t sample_type)
{
	memset(walk, 0, sizeof *walk);
	walk->seen = calloc(PAGE_TABLE_SIZE, sizeof *walk->seen);
	walk->ranges = calloc(RANGE_SLOTS, sizeof *walk->ranges);
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		walk->chain_at = FIXED_END;
		walk->chain_at += sample_type & PERF_SAMPLE_ADDR ? 8 : 0;
		walk->chain_at += sample_type & PERF_SAMPLE_CPU ? 8 : 0;
		walk->chain_at += sample_type & PERF_SAMPLE_PERIOD ? 8 : 0;
	}
	walk->whole_processes = sample_type & PERF_SAMPLE_STACK_USER;
	return walk->seen && walk->ranges;
}

void sample_walk_fini(struct sample_walk *walk)
{
	free(walk->seen);
	free(walk->ranges);
	array_fini(&walk->pages);
	buffer_fini(&walk->scratch);
}

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static uint64_t u64_at(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static uint32_t generation_of(const struct sample_walk *walk, uint32_t pid)
{
	return __atomic_load_n(&walk->generations[pid % GENERATIONS], __ATOMIC_RELAXED);
}

// A process at a time.
struct moment {
	uint32_t pid, generation;
	const struct known_ranges *ranges;
};

static inline struct moment moment_of(const struct sample_walk *walk, uint32_t pid)
{
	return (struct moment){ pid, generation_of(walk, pid), &walk->ranges[pid % RANGE_SLOTS] };
}

// What distinguishes equal pages of different processes, and of one at different times.
static inline uint64_t page_key(const struct moment *moment, uint64_t page)
{
	uint64_t key = page ^ (uint64_t)moment->pid << 36 ^ (uint64_t)moment->generation << 52;
	return (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static inline bool is_known(const struct moment *moment, uint64_t address)
{
	for (int i = 0; i < RANGE_WAYS; i++) {
		const struct known_range *range = &moment->ranges->ways[i];
		if (address - range->start < range->size && range->pid == moment->pid &&
		    range->generation == moment->generation)
			return true;
	}
	return false;
}

void sample_walk_know(struct sample_walk *walk, uint32_t pid, uint64_t start, uint64_t end)
{
	struct known_ranges *ranges = &walk->ranges[pid % RANGE_SLOTS];
	struct moment moment = moment_of(walk, pid);
	if (is_known(&moment, start))
		return;
	ranges->ways[ranges->next++ % RANGE_WAYS] =
		(struct known_range){ pid, moment.generation, start, end - start };
}

static void hand_on(struct sample_walk *walk, uint32_t pid, uint64_t address)
{
	struct code_page *item = array_add(&walk->pages);
	if (item)
		*item = (struct code_page){ .pid = pid, .address = address };
}

// Hands the page on unless it was seen lately.
__attribute__((noinline)) static void look_up(struct sample_walk *walk, const struct moment *moment,
					      uint64_t page, uint64_t address)
{
	uint64_t key = page_key(moment, page);
	uint64_t *slot = &walk->seen[key >> (64 - PAGE_TABLE_BITS)];
	if (*slot == key)
		return;
	*slot = key;
	hand_on(walk, moment->pid, address);
}

__attribute__((noinline)) static void look_at_kernel(struct sample_walk *walk, uint64_t address)
{
	struct moment moment = moment_of(walk, KERNEL_PAGE_PID);
	if (address - walk->kernel_start < walk->kernel_size) {
		walk->kernel_is_hit = true;
		hand_on(walk, KERNEL_PAGE_PID, address);
	} else {
		look_up(walk, &moment, address >> PAGE_BITS, address);
	}
}

static inline void look_at_page(struct sample_walk *walk, const struct moment *moment,
				uint64_t address)
{
	if (address & KERNEL_HALF) {
		bool is_told = walk->kernel_is_hit &&
			       address - walk->kernel_start < walk->kernel_size;
		if (!is_told)
			look_at_kernel(walk, address);
		return;
	}
	if (!is_known(moment, address))
		look_up(walk, moment, walk->whole_processes ? 0 : address >> PAGE_BITS, address);
}

static void look_at_branches(struct sample_walk *walk, const struct moment *moment,
			     const uint8_t *branches, size_t room)
{
	uint64_t pairs = room ? u64_at(branches) : 0;
	for (uint64_t i = 0; i < pairs && 1 + 3 * (i + 1) <= room; i++) {
		look_at_page(walk, moment, u64_at(branches + 8 + 24 * i));
		look_at_page(walk, moment, u64_at(branches + 16 + 24 * i));
	}
}

static void look_at_chain(struct sample_walk *walk, const struct moment *moment,
			  const uint8_t *record, size_t size)
{
	if (walk->chain_at + 8 > size)
		return;
	uint64_t count = u64_at(record + walk->chain_at);
	const uint8_t *entries = record + walk->chain_at + 8;
	size_t room = (size - walk->chain_at - 8) / 8;
	if (count > room)
		count = room;
	uint64_t last = UINT64_MAX;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = u64_at(entries + 8 * i);
		if (address >= FIRST_MARKER || address >> PAGE_BITS == last)
			continue;
		last = address >> PAGE_BITS;
		look_at_page(walk, moment, address);
	}
	if (walk->has_branches)
		look_at_branches(walk, moment, entries + 8 * count, room - count);
}

static void look_at_record(struct sample_walk *walk, const uint8_t *record, size_t size)
{
	uint32_t type = u32_at(record);
	if (type == RECORD_LOST && size >= 24)
		walk->lost += u64_at(record + 16);
	if (type != RECORD_SAMPLE || size < FIXED_END)
		return;
	uint64_t time = u64_at(record + TIME_AT);
	if (!walk->samples++ || time < walk->first_ns)
		walk->first_ns = time;
	if (time > walk->last_ns)
		walk->last_ns = time;
	if (!walk->wants_pages)
		return;
	struct moment moment = moment_of(walk, u32_at(record + TID_AT));
	look_at_page(walk, &moment, u64_at(record + IP_AT));
	if (walk->chain_at)
		look_at_chain(walk, &moment, record, size);
}

static size_t record_size(const uint8_t *record)
{
	uint16_t size;
	memcpy(&size, record + 6, sizeof size);
	return size;
}

// Looks at whole records in BYTES; the size of what is left at the end.
static size_t look_through(struct sample_walk *walk, const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	while (size - at >= HEADER_SIZE) {
		size_t record = record_size(bytes + at);
		if (record < HEADER_SIZE || record > size - at)
			break;
		look_at_record(walk, bytes + at, record);
		at += record;
	}
	return size - at;
}

size_t sample_walk_newer(const uint8_t *bytes, size_t size, uint64_t until_ns)
{
	size_t at = 0;
	while (size - at >= FIXED_END) {
		size_t record = record_size(bytes + at);
		if (record < HEADER_SIZE || record > size - at)
			break;
		bool is_sample = u32_at(bytes + at) == RECORD_SAMPLE && record >= FIXED_END;
		if (is_sample && u64_at(bytes + at + TIME_AT) <= until_ns)
			break;
		at += record;
	}
	return at;
}

void sample_walk(struct sample_walk *walk, const struct iovec *parts, int count)
{
	if (!count)
		return;
	size_t left = look_through(walk, parts[0].iov_base, parts[0].iov_len);
	if (count < 2)
		return;
	const uint8_t *second = parts[1].iov_base;
	size_t skip = 0;
	if (left) {
		// Records are multiples of 8 bytes, so the header is in the first part.
		const uint8_t *cut = (const uint8_t *)parts[0].iov_base + parts[0].iov_len - left;
		size_t size = record_size(cut);
		skip = size > left ? size - left : 0;
		if (skip > parts[1].iov_len)
			return;
		walk->scratch.size = 0;
		buffer_append(&walk->scratch, cut, left);
		buffer_append(&walk->scratch, second, skip);
		if (!walk->scratch.failed)
			look_at_record(walk, walk->scratch.bytes, walk->scratch.size);
	}
	look_through(walk, second + skip, parts[1].iov_len - skip);
}
