// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the addresses of `imprint symbolize` are of: files, and builds by their IDs.
#ifndef CLI_SYMBOLIZE_TARGETS_H
#define CLI_SYMBOLIZE_TARGETS_H

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/naming.h"
#include "model/image.h"

// A file or build ID that addresses are of.
struct target {
	char *name;
	char *path;
	struct image image;
	// Nothing there: what it was asked for is unknown.
	bool is_missing;
};

// Zero-initialise, and set what is lent.
struct symbolize_targets {
	const struct log *log;
	// Names the store that completes build IDs.
	const struct naming *naming;
	ARRAY_OF(struct target *) all;
};

// The target called NAME, lent, and looked for once. On failure *ret is set, too, unless memory ran
// out: the next who asks for it gets it as missing.
struct imp_error *symbolize_targets_find(struct symbolize_targets *targets, const char *name,
					 struct target **ret) MUST_CHECK;
void symbolize_targets_fini(struct symbolize_targets *targets);

#endif
