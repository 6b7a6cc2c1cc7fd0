// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Members of an archive, each compressed for itself: by many threads at once, and never again when
// the store keeps a compressed copy. Neither changes the bytes.
#ifndef ARCHIVE_FRAMES_H
#define ARCHIVE_FRAMES_H

#include "archive/tar_stream.h"
#include "store/store.h"

struct frame_member {
	const char *name;
	// The contents: in memory, or (NULL) SIZE_BYTES of FD from its beginning.
	const void *bytes;
	int fd;
	uint64_t size_bytes;
	// What the compressed copy is kept under; NULL: none is kept.
	const struct store_hash *hash;
};

// Writes MEMBERS, in their order, to TAR (of TAR_FRAMES). Compressed copies are taken from STORE
// and kept there; NULL: there is none. That one cannot be kept is no error. WORKERS as for
// parallel_run(); each needs three times 8 MiB.
struct imp_error *frames_write(struct tar_stream *tar, const struct frame_member *members,
			       size_t count, struct store *store, unsigned workers) MUST_CHECK;

#endif
