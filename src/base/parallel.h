// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Work shared among threads: numbered pieces, taken in order by whoever is free.
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

#include "base/error.h"

// Does piece PIECE in worker WORKER (0 <= WORKER < workers). An error stops the taking of further
// pieces.
typedef struct imp_error *parallel_work(void *arg, unsigned worker, size_t piece);

// The number of workers to use: WANTED, or for 0 one for each processor this process may run on; at
// most 256.
unsigned parallel_workers(unsigned wanted);

// Runs WORK for pieces 0..PIECES-1 on WORKERS threads, the caller's among them, and waits. The
// error of the lowest piece that failed is returned, the others are dropped, so the answer does not
// depend on the number of threads.
struct imp_error *parallel_run(unsigned workers, size_t pieces, parallel_work *work,
			       void *arg) MUST_CHECK;

#endif
