// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names of users out of /etc/passwd: read once, and never through the network, as NSS might.
#ifndef ENVIRONMENT_USERS_H
#define ENVIRONMENT_USERS_H

#include "base/array.h"
#include "live/proc.h"

struct user {
	uint32_t uid;
	char name[64];
};

struct users {
	struct user *items;
	size_t count;
	size_t room;
};

// Reads the file of the machine whose /proc tree PROC is. Without one nobody has a name.
struct imp_error *users_read(const struct proc *proc, struct users *ret) MUST_CHECK;
void users_fini(struct users *users);

// "" when not known.
const char *users_name(const struct users *users, uint32_t uid);

#endif
