// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A small pool that lives for one run.
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_WORKERS = 256 };

struct run {
	parallel_work *work;
	void *arg;
	size_t pieces;
	atomic_size_t next;
	atomic_bool failed;
	pthread_mutex_t lock;
	struct imp_error *error;
	size_t error_piece;
};

struct worker {
	struct run *run;
	unsigned number;
	pthread_t thread;
};

unsigned parallel_workers(unsigned wanted)
{
	if (!wanted) {
		cpu_set_t set;
		wanted = sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
	}
	return wanted > MOST_WORKERS ? MOST_WORKERS : wanted;
}

static void run_fail(struct run *run, struct imp_error *error, size_t piece)
{
	pthread_mutex_lock(&run->lock);
	if (!run->error || piece < run->error_piece) {
		imp_error_free(run->error);
		run->error = error;
		run->error_piece = piece;
	} else {
		imp_error_free(error);
	}
	pthread_mutex_unlock(&run->lock);
	atomic_store(&run->failed, true);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	while (!atomic_load(&run->failed)) {
		size_t piece = atomic_fetch_add(&run->next, 1);
		if (piece >= run->pieces)
			break;
		struct imp_error *err = run->work(run->arg, worker->number, piece);
		if (err)
			run_fail(run, err, piece);
	}
	return NULL;
}

struct imp_error *parallel_run(unsigned workers, size_t pieces, parallel_work *work, void *arg)
{
	struct run run = { .work = work, .arg = arg, .pieces = pieces };
	struct worker all[MOST_WORKERS];
	workers = parallel_workers(workers);
	if (workers > pieces)
		workers = pieces ? (unsigned)pieces : 1;
	pthread_mutex_init(&run.lock, NULL);
	unsigned started = 1;
	for (; started < workers; started++) {
		all[started] = (struct worker){ .run = &run, .number = started };
		// Fewer threads than asked for do the same work.
		if (pthread_create(&all[started].thread, NULL, worker_main, &all[started]))
			break;
	}
	all[0] = (struct worker){ .run = &run, .number = 0 };
	worker_main(&all[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(all[i].thread, NULL);
	pthread_mutex_destroy(&run.lock);
	return run.error;
}
