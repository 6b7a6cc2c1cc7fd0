// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Who mapped what, when: processes, their address spaces through time, and the kernel's own map.
//
// Filled with the meta records of a recording in file order, finished once (which orders them by
// time), and from then on read-only and safe to ask from many threads.
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include <stddef.h>

#include "base/log.h"
#include "model/address.h"
#include "model/image.h"
#include "model/reason.h"
#include "perfdata/record.h"
#include "timeline/namespaces.h"

struct timeline;

struct timeline_options {
	// Lent; NULL for silence.
	const struct log *log;
	// Records carry no time: they are ordered by position, and positions serve as times.
	bool has_no_times;
};

struct imp_error *timeline_new(const struct timeline_options *options,
			       struct timeline **ret) MUST_CHECK;
void timeline_free(struct timeline *timeline);

// Takes note of RECORD if it is one that tells of processes, mappings or identities (MMAP, MMAP2,
// COMM, FORK, EXIT, KSYMBOL, NAMESPACES, CGROUP, HEADER_BUILD_ID); others are ignored. Copies what
// it keeps. A record that cannot be read is an error the caller may warn of and go on.
struct imp_error *timeline_add(struct timeline *timeline, const struct events *events,
			       const struct record *record) MUST_CHECK;

// Code that process PID made itself: SIZE bytes at START from TIME_NS on, at OFFSET of the file at
// PATH, which says what they are.
struct generated_code {
	uint32_t pid;
	uint64_t time_ns, start, size, offset;
	const char *path;
};

// Takes note of CODE, which is copied.
struct imp_error *timeline_add_code(struct timeline *timeline,
				    const struct generated_code *code) MUST_CHECK;

// True when timeline_add() would look at records of TYPE.
bool timeline_wants(uint32_t type);

// Takes an entry of the header's BUILD_ID table.
struct imp_error *timeline_add_build_id(struct timeline *timeline,
					const struct build_id_record *entry) MUST_CHECK;

// For who must know before all records are there: none with a time before UNTIL will come any more.
// Questions about times before UNTIL may then be asked; the images in the answers have early
// numbers, which timeline_final_number() turns into the final ones. If such a record comes after
// all, the answers may have been wrong, and timeline_was_late() says so once all is finished.
struct imp_error *timeline_advance(struct timeline *timeline, uint64_t until) MUST_CHECK;
// Records that were added and not advanced over yet.
size_t timeline_waiting(const struct timeline *timeline);
// From now on records are dropped once they were advanced over, so that memory holds what they made
// alone. One that comes too late can then not be put in its place any more: once
// timeline_was_late(), the timeline is of no use and must not be finished.
void timeline_forget(struct timeline *timeline);
size_t timeline_early_count(const struct timeline *timeline);
uint32_t timeline_final_number(const struct timeline *timeline, uint32_t early);
bool timeline_was_late(const struct timeline *timeline);

// Orders, replays, binds identities. Nothing can be added afterwards.
struct imp_error *timeline_finish(struct timeline *timeline) MUST_CHECK;

// Images are numbered from 0 in a deterministic order.
size_t timeline_image_count(const struct timeline *timeline);
const struct image *timeline_image(const struct timeline *timeline, uint32_t image);
// How many mappings of the image there were, over all processes.
uint64_t timeline_image_mappings(const struct timeline *timeline, uint32_t image);

enum { NO_IMAGE = UINT32_MAX };

// Where an address was: an image and an offset in it (model/image.h says what it counts), or
// NO_IMAGE and why.
struct place {
	uint32_t image;
	enum unknown_reason reason;
	file_off offset;
};

#define NO_MAPPING UINT64_MAX

// An answer for a stretch: it is the same for all of the addresses [start, end) at all of the times
// [from, to). An address less `base` is its offset.
struct stretch {
	uint64_t start, end;
	uint64_t from, to;
	uint64_t base;
	uint32_t image;
	enum unknown_reason reason;
	// A number of the mapping in its space. Once it is replaced at an address it never comes
	// back there, so where it is the same at two times it is so in between. NO_MAPPING where
	// there is none.
	uint64_t mapping;
};

// As timeline_locate(), and how far the answer reaches.
struct stretch timeline_stretch(const struct timeline *timeline, uint32_t pid, uint64_t time,
				unsigned cpumode, abs_addr address);

// Speeds up questions that were asked before: about the same process and neighbouring addresses.
// Zero-initialise; one for each thread.
enum { TIMELINE_CACHE_SLOTS = 256 };
struct timeline_cache {
	struct timeline_cache_slot {
		uint64_t key;
		struct stretch stretch;
	} slots[TIMELINE_CACHE_SLOTS];
};

// As timeline_stretch(), by way of CACHE.
struct stretch timeline_find(const struct timeline *timeline, uint32_t pid, uint64_t time,
			     unsigned cpumode, abs_addr address, struct timeline_cache *cache);

// Where ADDRESS was in process PID at TIME, in CPUMODE (MISC_KERNEL, MISC_USER, …). CACHE may be
// NULL.
struct place timeline_locate(const struct timeline *timeline, uint32_t pid, uint64_t time,
			     unsigned cpumode, abs_addr address, struct timeline_cache *cache);

// Goes through the processes that had something mapped, in the order in which they were first heard
// of: *AT begins as 0 and is moved on. False at the end.
bool timeline_next_process(const struct timeline *timeline, size_t *at, uint32_t *pid);

// The mapping that holds ADDRESS, or else the one behind it, as process PID had it last: at the end
// of the recording, or when it ended. Modules and other code loaded into the kernel with
// MISC_KERNEL. False when there is none. Times and the mapping's number are not set.
bool timeline_last_mapping(const struct timeline *timeline, uint32_t pid, unsigned cpumode,
			   abs_addr address, struct stretch *ret);

// The command name of thread TID at TIME, lent by the timeline; NULL when not recorded.
const char *timeline_comm(const struct timeline *timeline, uint32_t pid, uint32_t tid,
			  uint64_t time);

// The namespaces that thread TID was in at TIME, lent by the timeline; NULL when not recorded.
const struct namespace_set *timeline_namespaces(const struct timeline *timeline, uint32_t pid,
						uint32_t tid, uint64_t time);

// The path of the cgroup of number ID at TIME, lent by the timeline; NULL when not recorded.
const char *timeline_cgroup(const struct timeline *timeline, uint64_t id, uint64_t time);

#endif
