// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What can be recorded here, tried out rather than guessed: each ability with what was found and
// what would change it.
#ifndef RECORD_ABILITY_H
#define RECORD_ABILITY_H

#include "base/array.h"
#include "base/error.h"

enum ability_state { ABILITY_YES, ABILITY_PARTLY, ABILITY_NO };

// "yes", "partly", "no".
const char *ability_state_name(enum ability_state state);

struct ability {
	// A stable word: "user-code", "kernel-code", "build-ids", ….
	const char *name;
	// What it is for.
	const char *what;
	enum ability_state state;
	// What was found. Owned.
	char *found;
	// What to change; NULL when there is nothing to change, or nothing that could be.
	const char *remedy;
};

struct abilities {
	struct ability *items;
	size_t count;
	size_t room;
};

void abilities_fini(struct abilities *abilities);
#define _cleanup_abilities_ __attribute__((cleanup(abilities_fini)))

// Tries everything; STORE_DIR is where images would be kept (NULL: nowhere).
struct imp_error *abilities_try(const char *store_dir, struct abilities *ret) MUST_CHECK;

// The ability NAME, or NULL.
const struct ability *abilities_find(const struct abilities *abilities, const char *name);

#endif
