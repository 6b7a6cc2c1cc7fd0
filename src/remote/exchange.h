// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Signed HTTP exchanges with an object store, several at once over one loop.
#ifndef REMOTE_EXCHANGE_H
#define REMOTE_EXCHANGE_H

#include <stdint.h>

#include "base/buffer.h"
#include "remote/address.h"

// One question and its answer.
struct exchange {
	// Owned, as all that follows.
	char *url;
	// PUT of SIZE bytes of fd, whose SHA-256 in hex is HASH; else GET.
	bool is_put;
	char *hash;
	// Of a PUT: "x-amz-meta-path"'s value; of the answer to a GET: the same. NULL: none.
	char *path;
	// PUT: read from its beginning. GET: written to, unless -1: then the answer goes to body.
	int fd;
	// GET: no more than so many bytes.
	uint64_t size;
	struct buffer body;
	// The callbacks' own, lent.
	const void *about;

	// The answer's; 0: there was none, and `why` tells why not.
	long status;
	uint64_t received;
	char why[256];
};

void exchange_fini(struct exchange *exchange);

struct exchange_options {
	const struct remote_credentials *credentials;
	// Of CLOCK_MONOTONIC, in seconds: all of them are over then.
	double deadline_s;
	// How many at once, at most 64.
	unsigned parallel;
	// Asked now and then; NULL: never stop.
	bool (*is_stopped)(void *arg);
	void *stop_arg;
	// Fills RET in; *more is false when there is nothing more. After it has failed once it is
	// not called again.
	struct imp_error *(*next)(void *arg, struct exchange *ret, bool *more);
	// Takes what is wanted out of EXCHANGE, which is freed then.
	struct imp_error *(*done)(void *arg, struct exchange *exchange);
	void *arg;
};

// The connections of a loop, kept for the next one. For one thread at a time.
struct exchanger;
struct imp_error *exchanger_new(struct exchanger **ret) MUST_CHECK;
void exchanger_free(struct exchanger *exchanger);

// Runs all that `next` gives. What does not succeed is an answer; errors are the callbacks' and for
// memory. What was not begun when the time was over is not asked for; what was begun is done
// without a status.
struct imp_error *exchanges_run(struct exchanger *exchanger,
				const struct exchange_options *options) MUST_CHECK;

double exchange_now_s(void);

#endif
