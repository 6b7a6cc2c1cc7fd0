// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Counting, and telling the counts.
#include "serve/metrics.h"

static const unsigned statuses[METRICS_STATUSES] = { 200, 206, 304, 404, 405, 406,
						     412, 413, 416, 502, 503 };

void metrics_count(struct metrics *metrics, enum serve_part part, unsigned status, uint64_t bytes)
{
	atomic_fetch_add(&metrics->requests[part], 1);
	atomic_fetch_add(&metrics->bytes, bytes);
	for (size_t i = 0; i < METRICS_STATUSES; i++)
		if (statuses[i] == status)
			atomic_fetch_add(&metrics->statuses[i], 1);
}

void metrics_print(struct metrics *metrics, struct buffer *ret)
{
	buffer_text(ret, "# TYPE http_requests_total counter\n");
	for (enum serve_part part = SERVE_NOTHING; part < SERVE_PARTS; part++)
		buffer_format(ret, "http_requests_total{type=\"%s\"} %llu\n", serve_part_name(part),
			      atomic_load(&metrics->requests[part]));
	buffer_text(ret, "# TYPE http_responses_total counter\n");
	for (size_t i = 0; i < METRICS_STATUSES; i++)
		buffer_format(ret, "http_responses_total{result=\"%u\"} %llu\n", statuses[i],
			      atomic_load(&metrics->statuses[i]));
	buffer_text(ret, "# TYPE http_responses_transfer_bytes_sum counter\n");
	buffer_format(ret, "http_responses_transfer_bytes_sum %llu\n",
		      atomic_load(&metrics->bytes));
	buffer_text(ret, "# TYPE imprint_fetched_total counter\n");
	buffer_format(ret, "imprint_fetched_total %llu\n", atomic_load(&metrics->fetched));
	buffer_text(ret, "# TYPE imprint_connections gauge\n");
	buffer_format(ret, "imprint_connections %lld\n", atomic_load(&metrics->connections));
}
