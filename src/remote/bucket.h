// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What an open remote is, for this room: its address, and what is asked of a bucket.
#ifndef REMOTE_BUCKET_H
#define REMOTE_BUCKET_H

#include <pthread.h>
#include <stdatomic.h>

#include "remote/exchange.h"
#include "remote/listing.h"
#include "remote/remote.h"
#include "store/store.h"

struct remote {
	struct remote_options options;
	// Owns the strings of options.
	char *strings[6];
	struct remote_address address;
	// The store in the directory; NULL for a bucket.
	struct store *directory;
	// Of everything; 0: no question was asked yet.
	pthread_mutex_t lock;
	double deadline_s;
	// Connections that nobody uses now.
	ARRAY_OF(struct exchanger *) idle;
	atomic_bool has_failed;
};

// The last question's answer must be right after this: everything is over at that time.
double remote_deadline_s(struct remote *remote);

// A loop with its connections, for one thread; given back with bucket_give_back().
struct imp_error *bucket_take(struct remote *remote, struct exchanger **ret) MUST_CHECK;
void bucket_give_back(struct remote *remote, struct exchanger *exchanger);

// Options for exchanges with the bucket: who asks, how long; the callbacks are the caller's.
struct exchange_options bucket_options(struct remote *remote);

// The URL of KEY; freed by the caller, NULL when memory ran out.
char *bucket_url(const struct remote *remote, const char *key);

// Appends the objects whose keys begin with PREFIX (the remote's own comes in front) to RET, their
// keys without the remote's own. *failed is set when the bucket does not answer as it should.
struct imp_error *bucket_list(struct remote *remote, struct exchanger *exchanger,
			      const char *prefix, struct listing *ret, bool *failed) MUST_CHECK;

// Tells the log, once, that the remote is not asked any more.
void remote_give_up(struct remote *remote, const char *why);
// The same for the answer of EXCHANGE, which is no success.
void bucket_give_up(struct remote *remote, const struct exchange *exchange);

#endif
