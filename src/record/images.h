// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The images a recording has met: their identity, their pinned files, whether samples hit them, and
// what became of their bytes.
#ifndef RECORD_IMAGES_H
#define RECORD_IMAGES_H

#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/table.h"
#include "model/build_id.h"

enum keeping {
	// Not asked for (yet).
	KEEPING_NONE,
	// Waits for, or is at, the copying.
	KEEPING_QUEUED,
	// In the store.
	KEEPING_DONE,
	// Cannot be; `refusal` says why.
	KEEPING_REFUSED,
};

struct met_image {
	struct build_id id;
	// Whose ID is none: the inode is the identity.
	uint32_t major, minor;
	uint64_t inode;
	// As recorded. Owned.
	char *path;
	bool is_kernel_side;
	// Is no mapped file: kernel, module, vdso.
	bool is_fileless;
	// A module of the kernel, whose file is looked for when it is to be kept.
	bool is_module;
	// The mapped file, or -1.
	int fd;
	// Of fd, when it was pinned.
	struct stat pinned;
	bool is_hit;
	enum keeping keeping;
	// Static text.
	const char *refusal;
	// Its bytes were changed under the same inode: its ID counts only before that time (ns of
	// the recording's clock).
	bool is_changed;
	uint64_t changed_ns;
};

// Zero-initialised is empty.
struct met_images {
	ARRAY_OF(struct met_image) all;
	struct table by_key;
	size_t open_count;
};

void met_images_fini(struct met_images *images);

// What tells images apart: build ID and path; without an ID, inode and path.
struct image_key {
	struct build_id id;
	uint32_t major, minor;
	uint64_t inode;
	const char *path;
};

// The number of the image of KEY; *IS_NEW when it was not met before.
struct imp_error *met_images_meet(struct met_images *images, const struct image_key *key,
				  bool *is_new, uint32_t *ret) MUST_CHECK;

// Lets go of the file of image NUMBER.
void met_images_unpin(struct met_images *images, uint32_t number);

#endif
