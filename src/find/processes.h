// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What processes that still run have mapped, by build ID: replaced and deleted files, too.
#ifndef FIND_PROCESSES_H
#define FIND_PROCESSES_H

#include <stdint.h>

#include "base/error.h"
#include "model/build_id.h"

struct processes;

struct processes *processes_new(void);
void processes_free(struct processes *processes);

// Adds process PID, whose mappings are read at the first question after this, if it began before
// WRITTEN_S (seconds of CLOCK_REALTIME; 0: whenever it began).
struct imp_error *processes_add(struct processes *processes, uint32_t pid,
				int64_t written_s) MUST_CHECK;

// Opens the mapped file of ID (PADDED as build_id_equal_padded() has it): *ret is -1 when no added
// process maps it or no way leads to it. *place (freed by the caller) tells which mapping it is.
// Safe from many threads.
struct imp_error *processes_open(struct processes *processes, const struct build_id *id,
				 bool padded, int *ret, char **place) MUST_CHECK;

// Opens the map of generated code (perf-PID.map) that added process PID wrote in its own /tmp, by
// the number that it knows itself by: *ret is -1 when it was not added, began too late or has none.
// *place is freed by the caller.
struct imp_error *processes_open_map(struct processes *processes, uint32_t pid, int *ret,
				     char **place) MUST_CHECK;

#endif
