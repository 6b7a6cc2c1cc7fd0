// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Other debuginfod servers, asked for what the store has not: what they give is verified by its own
// build ID, goes into the store, and is then served from there.
//
// Whoever asks for what is being fetched already waits for it. Safe from many threads.
#ifndef SERVE_UPSTREAM_H
#define SERVE_UPSTREAM_H

#include <stdbool.h>

#include "serve/request.h"
#include "serve/serve.h"

struct upstream;

enum upstream_outcome {
	// It is in the store now.
	UPSTREAM_STORED,
	// None has it; believed for some minutes.
	UPSTREAM_ABSENT,
	// Some did not answer, or gave another build; nothing is known.
	UPSTREAM_FAILED,
	// Too much is being fetched, or the question went round in a circle.
	UPSTREAM_BUSY
};

// OPTIONS are lent until upstream_free().
struct imp_error *upstream_new(const struct serve_options *options,
			       struct upstream **ret) MUST_CHECK;
// Makes who waits come back soon; nothing is fetched any more.
void upstream_stop(struct upstream *upstream);
// After all have come back.
void upstream_free(struct upstream *upstream);

// What the request said of the way it came: its Via and X-Forwarded-For (NULL: none).
struct upstream_way {
	const char *via, *forwarded_for;
	// Who sent it.
	const char *client;
};

// Has ID's PART (SERVE_EXECUTABLE or SERVE_DEBUGINFO) fetched. Errors are for memory, the scratch
// directory and the store.
struct imp_error *upstream_ask(struct upstream *upstream, const struct build_id *id,
			       enum serve_part part, const struct upstream_way *way,
			       enum upstream_outcome *ret) MUST_CHECK;

#endif
