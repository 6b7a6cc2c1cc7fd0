// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A store over HTTP, by debuginfod's protocol, so that gdb, perf, elfutils and other imprints use
// it through DEBUGINFOD_URLS.
//
//	GET /buildid/ID/executable | debuginfo | source/PATH | section/NAME
//	GET /metrics
//
// What is served is verified: its content hash by the store, its build ID here.
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"

struct store;
struct server;

struct serve_options {
	// All lent until serve_stop().
	const struct log *log;
	struct store *store;
	// "PORT", "ADDRESS", "ADDRESS:PORT", "[ADDRESS]:PORT"; NULL: 127.0.0.1:8002. Port 0: any
	// free one.
	const char *address;
	// debuginfod servers to ask for what the store has not, in order; NULL-terminated, NULL:
	// none. The store has to be writable then.
	const char *const *upstreams;
	// A directory of the caller's own, for what upstreams are sending. Needed with upstreams.
	const char *scratch_dir;
	// For one question to all upstreams together; 0: 30.
	double upstream_s;
	// How many connections at once, and from one address; 0: 256, and as many.
	unsigned connections, connections_each;
	// How long a connection may be silent, and how long a request may take to arrive; 0: 30.
	unsigned silence_s;
};

// Listens and answers, in threads of its own, until serve_stop(). IMP_ERR_USAGE for an address that
// is none.
struct imp_error *serve_start(const struct serve_options *options, struct server **ret) MUST_CHECK;

// "http://127.0.0.1:8002", lent by SERVER. An address that stands for all ("0.0.0.0") is told as
// the loopback one, which it is, too.
const char *serve_url(const struct server *server);
// Other machines can reach it.
bool serve_is_public(const struct server *server);

// Ends all connections and waits for them. NULL is allowed.
void serve_stop(struct server *server);

// False in a build without libmicrohttpd: serve_start() is then IMP_ERR_UNSUPPORTED.
bool serve_is_built_in(void);

#endif
