// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The socket that a server listens on, from the words a user says it with.
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include <stdbool.h>

#include "base/error.h"

enum { LISTENER_HOST_SIZE = 256, LISTENER_PORT_SIZE = 8, LISTENER_URL_SIZE = 128 };

struct listener_words {
	char host[LISTENER_HOST_SIZE];
	char port[LISTENER_PORT_SIZE];
};

// Reads "PORT", "ADDRESS", "ADDRESS:PORT" or "[ADDRESS]:PORT"; what is not said, or NULL, is the
// loopback address and port 8002. IMP_ERR_USAGE for anything else.
struct imp_error *listener_parse(const char *text, struct listener_words *ret) MUST_CHECK;

struct listener {
	int fd;
	bool is_ipv6;
	// Reached from this machine only.
	bool is_loopback;
	char url[LISTENER_URL_SIZE];
};

// Binds and listens. The descriptor is the caller's.
struct imp_error *listener_open(const struct listener_words *words,
				struct listener *ret) MUST_CHECK;

#endif
