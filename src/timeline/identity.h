// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which build an image was: binds what a table of build IDs claims to what was mapped, where the
// recording itself does not speak against it.
#ifndef TIMELINE_IDENTITY_H
#define TIMELINE_IDENTITY_H

#include "timeline/images.h"

// An entry of a recording's build-ID table.
struct claim {
	struct build_id id;
	// Of the images' pool.
	const char *path;
	enum image_kind kind;
	bool is_padded;
	// An image has this ID, so that the claim tells of nothing else.
	bool is_met;
};

struct claims {
	ARRAY_OF(struct claim) all;
};

// Gives each of IMAGES its final identity, and adds an image without mappings for each claim that
// belongs to none. Images that turn out to be the same become one: *ret (the caller's, to free) has
// the new number of each old one.
//
// An image without an ID of its own is given the table's when the table has one ID for its path,
// only one file was mapped under that path, and no mapping of it has another ID. When the table has
// one and the rest is not so, the image is AMBIGUOUS. Kernels are compared with every kernel's
// entry, modules by their name. Modules that share an ID have none: perf before 7.0 wrote the first
// module's ID for each.
struct imp_error *identity_bind(struct images *images, struct claims *claims,
				uint32_t **ret) MUST_CHECK;

#endif
