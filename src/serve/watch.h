// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// How long a connection may take: a thread cuts off those that are past their time, however busily
// they drip.
#ifndef SERVE_WATCH_H
#define SERVE_WATCH_H

#include <stdint.h>

#include "base/error.h"

struct watch;
// One connection.
struct watched;

struct imp_error *watch_new(struct watch **ret) MUST_CHECK;
// After all connections have left.
void watch_free(struct watch *watch);

// Watches the socket FD, which has SECONDS from now. NULL when memory ran out.
struct watched *watch_enter(struct watch *watch, int fd, unsigned seconds);
// From now on it has SECONDS.
void watch_allow(struct watch *watch, struct watched *watched, uint64_t seconds);
// Before FD is closed. Frees WATCHED.
void watch_leave(struct watch *watch, struct watched *watched);

#endif
