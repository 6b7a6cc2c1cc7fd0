// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What differs between two snapshots: by path, by role (one soname under another path), and by
// program.
#ifndef ENVIRONMENT_DIFFERENCE_H
#define ENVIRONMENT_DIFFERENCE_H

#include "environment/snapshot.h"

enum difference_kind {
	DIFFERENCE_SAME,
	// Other builds than before.
	DIFFERENCE_CHANGED,
	DIFFERENCE_NEW,
	DIFFERENCE_GONE,
	// There in both, but a build could not be told in one of them.
	DIFFERENCE_UNKNOWN,
	DIFFERENCE_KINDS
};

// "same", "changed", "new", "gone", "unknown".
const char *difference_kind_name(enum difference_kind kind);

// What an image is for.
enum image_role { ROLE_KERNEL, ROLE_MODULE, ROLE_FILE, ROLE_VDSO, ROLES };
const char *image_role_name(enum image_role role);

// All builds of one path in one snapshot.
struct difference_side {
	// "" when it is not there.
	const char *path;
	// Identities in their order, separated by ", "; "" when none is known.
	const char *builds;
	// Of the first build: package version, else "".
	const char *version;
	// How many processes run it.
	uint64_t processes;
};

struct difference_row {
	enum difference_kind kind;
	enum image_role role;
	// "" without one.
	const char *soname;
	struct difference_side before, after;
};

// A program: the path of its executable in its own root, and the unit or container it runs in.
struct program_row {
	enum difference_kind kind;
	const char *exe;
	const char *group;
	// How many processes there were of it.
	uint64_t before, after;
	// The paths whose builds differ, in the difference's program_images.
	size_t first_image, image_count;
};

struct difference {
	struct strings strings;
	// Sorted by role and path.
	ARRAY_OF(struct difference_row) rows;
	ARRAY_OF(struct program_row) programs;
	ARRAY_OF(const char *) program_images;
	uint64_t counts[DIFFERENCE_KINDS];
};

void difference_fini(struct difference *difference);
#define _cleanup_difference_ __attribute__((cleanup(difference_fini)))

// Compares BEFORE with AFTER; RET is zeroed.
struct imp_error *difference_of(const struct snapshot *before, const struct snapshot *after,
				struct difference *ret) MUST_CHECK;

// Something is changed, new or gone.
bool difference_is_any(const struct difference *difference);

#endif
