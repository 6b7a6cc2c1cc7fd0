// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A directory of a test with everything a finder may look into.
#ifndef TESTS_FIND_PLACE_H
#define TESTS_FIND_PLACE_H

#include "find/finder.h"

// A directory of a test, with a finder that looks nowhere else.
struct place {
	char *dir;
	struct finder_options options;
	const char *image_dirs[2], *debug_dirs[2];
	char image_dir[128], debug_dir[128], cache[128], perf[128];
};

void place_init(struct place *place);
void place_fini(struct place *place);
#define _cleanup_place_ __attribute__((cleanup(place_fini)))

// DIR/FORMAT, its directories made; lent until the next call.
const char *place_at(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
