// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a server counts, by the names that debuginfod's own counters have.
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stdatomic.h>

#include "base/buffer.h"
#include "serve/request.h"

// The statuses that are answered.
enum { METRICS_STATUSES = 11 };

// Zero-initialised is nothing yet.
struct metrics {
	atomic_ullong requests[SERVE_PARTS];
	atomic_ullong statuses[METRICS_STATUSES];
	atomic_ullong bytes, fetched;
	atomic_llong connections;
};

void metrics_count(struct metrics *metrics, enum serve_part part, unsigned status, uint64_t bytes);

// Appends all as Prometheus and OpenMetrics read it.
void metrics_print(struct metrics *metrics, struct buffer *ret);

#endif
