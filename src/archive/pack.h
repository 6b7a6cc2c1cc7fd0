// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Packing recordings together with the images that they need, each content once.
#ifndef ARCHIVE_PACK_H
#define ARCHIVE_PACK_H

#include "archive/manifest.h"
#include "archive/tar_stream.h"

struct pack;

struct imp_error *pack_new(struct pack **ret);
void pack_free(struct pack *pack);
DEFINE_CLEANUP(struct pack *, pack, pack_free)

// Adds the recording (a file) at PATH under its own name, or with a number in front when there is
// another of that name.
struct imp_error *pack_add_recording(struct pack *pack, const char *path) MUST_CHECK;

// Adds an object whose bytes are lent until pack_free(). The same content under the same ID is
// taken once; *is_new (may be NULL) says whether it was.
struct imp_error *pack_add_object(struct pack *pack, const struct store_item *item,
				  const void *bytes, size_t size, bool *is_new) MUST_CHECK;

// Notes that an image was needed and not found.
struct imp_error *pack_add_missing(struct pack *pack, const struct build_id *id,
				   const char *path) MUST_CHECK;

// Leaves out what BASE has (and what BASE says is elsewhere, which is there as well).
struct imp_error *pack_leave_out(struct pack *pack, const struct manifest *base) MUST_CHECK;

// Lent; complete once all is added.
const struct manifest *pack_manifest(const struct pack *pack);

// Whether two builds of one image are in it: bytes that repeat far apart.
bool pack_has_two_builds(const struct pack *pack);

enum pack_layout {
	PACK_IMPRINT,
	// What `perf archive --unpack` and tar put into ~/.debug: no manifest, no recordings.
	PACK_PERF,
};

// COPIES keeps compressed copies of objects (TAR_FRAMES only); NULL: nothing does.
struct imp_error *pack_write(struct pack *pack, enum pack_layout layout, const char *path,
			     const struct tar_options *options, struct store *copies) MUST_CHECK;

#endif
