// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One request, one answer.
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include "base/late/late_microhttpd.h"
#include "base/log.h"
#include "serve/holdings.h"
#include "serve/metrics.h"
#include "serve/upstream.h"
#include "serve/watch.h"

// What all requests share.
struct answering {
	const struct log *log;
	struct holdings *holdings;
	// NULL: none.
	struct upstream *upstream;
	double upstream_s;
	struct watch *watch;
	struct metrics metrics;
};

// The request on CONNECTION has a body. None is ever read.
bool answer_brings_body(struct MHD_Connection *connection);

// Answers the request of METHOD for TARGET on CONNECTION. WATCHED may be NULL.
enum MHD_Result answer(struct answering *answering, struct MHD_Connection *connection,
		       struct watched *watched, const char *method, const char *target);

#endif
