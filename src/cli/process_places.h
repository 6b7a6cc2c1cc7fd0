// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What lies at the addresses of a process that runs now, or of one in a snapshot.
#ifndef CLI_PROCESS_PLACES_H
#define CLI_PROCESS_PLACES_H

#include "base/error.h"
#include "environment/snapshot.h"
#include "model/address.h"
#include "model/image.h"

struct process_places;

// Reads what process PID has mapped.
struct imp_error *process_places_open(uint32_t pid, struct process_places **ret) MUST_CHECK;
// What process PID (0: the only one) of the snapshot or core file NAME had mapped.
struct imp_error *process_places_open_snapshot(const char *name, uint32_t pid,
					       struct process_places **ret) MUST_CHECK;
void process_places_close(struct process_places *places);

struct process_place {
	// Strings are lent by the places until the next call.
	struct image image;
	file_off offset;
};

// The process PID of SNAPSHOT (0: the only one), lent by it. NAME is for IMP_ERR_USAGE: when there
// is none, or its mappings are not known.
struct imp_error *snapshot_process_chosen(const struct snapshot *snapshot, const char *name,
					  uint32_t pid,
					  const struct snapshot_process **ret) MUST_CHECK;

// False when nothing is mapped at ADDRESS.
bool process_places_at(struct process_places *places, uint64_t address, struct process_place *ret);

// The same place, with the path by which the kernel leads to the mapped file itself, replaced or
// deleted though it may be. False for what is no file, and for snapshots.
bool process_places_by_mapping(struct process_places *places, uint64_t address,
			       struct process_place *ret);

// The directory where perf-PID.map of the process is, by the PID it knows itself by. Lent;
// NULL for snapshots.
const char *process_places_map_dir(const struct process_places *places);

DEFINE_CLEANUP(struct process_places *, process_places, process_places_close)
#define _cleanup_process_places_ __attribute__((cleanup(cleanup_process_places)))

#endif
