// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Puts the images that a recording wants kept into the store: in the background, at idle I/O
// priority, each build once ever.
#ifndef RECORD_KEEPER_H
#define RECORD_KEEPER_H

#include "live/kernel.h"
#include "record/tracker.h"
#include "store/store.h"

struct keeper;

// Starts a thread that serves TRACKER's jobs (lent both, until keeper_free()).
struct imp_error *keeper_start(struct tracker *tracker, struct store *store,
			       struct keeper **ret) MUST_CHECK;

// Also keeps what tells of the running kernel: its symbols, its modules, the vdso.
void keeper_keep_kernel(struct keeper *keeper, const struct kernel *kernel, bool is_hidden);

// Waits until all jobs are done (tracker_end_jobs() must have been called), and ends the thread. An
// error is what kept the store from taking anything further.
struct imp_error *keeper_finish(struct keeper *keeper, struct store_batch_counts *ret) MUST_CHECK;
void keeper_free(struct keeper *keeper);

#endif
