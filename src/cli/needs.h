// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The images that a recording needs to be read: for verbs that keep or pack them.
#ifndef CLI_NEEDS_H
#define CLI_NEEDS_H

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "model/image.h"

// Called for each image, once a recording. IMAGE is lent for the call.
typedef struct imp_error *needs_visitor(void *arg, const struct image *image);

// Visits the images of the recording at PATH that its samples or call chains fell into; with ALL,
// or when its traces are not decoded, those it mapped.
struct imp_error *needs_visit(const char *path, bool all, const struct log *log,
			      needs_visitor *visit, void *arg) MUST_CHECK;

// Whether the file or directory at PATH begins as a recording or as an archive of recordings.
bool needs_is_recording(const char *path);

struct needs_ids {
	ARRAY_OF(struct build_id);
};

// Appends the build IDs of the images that the recording or archive at PATH needs to RET, each
// once.
struct imp_error *needs_collect(const char *path, const struct log *log,
				struct needs_ids *ret) MUST_CHECK;

struct store;
// Appends what the debug files in STORE of IDS refer to: the files of dwz(1), each once.
struct imp_error *needs_add_alts(struct store *store, struct needs_ids *ids) MUST_CHECK;

#endif
