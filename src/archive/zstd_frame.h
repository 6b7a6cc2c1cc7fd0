// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Bytes compressed to a zstd frame that stands for itself; always the same for the same bytes.
#ifndef ARCHIVE_ZSTD_FRAME_H
#define ARCHIVE_ZSTD_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/packed.h"

// What goes into one frame: more makes it hardly smaller, and less can be done at a time.
enum { FRAME_MOST_BYTES = 8 << 20 };

// How frames are made: the level, and the version of the library, on which their bytes depend.
struct frame_method {
	char text[PACKED_METHOD_SIZE];
};
struct frame_method frame_method(void);

struct frame {
	// Owned.
	void *bytes;
	size_t size;
};

// What a thread needs to make frames; zeroed to begin with.
struct frame_packer {
	void *zstd;
	// Of FRAME_MOST_BYTES, once there was something to read.
	uint8_t *room;
	uint8_t *out;
};
void frame_packer_fini(struct frame_packer *packer);

// Reads SIZE bytes of FD at OFFSET into PACKER's room; fewer is an error. NAME is for messages.
struct imp_error *frame_packer_read(struct frame_packer *packer, int fd, const char *name,
				    uint64_t offset, size_t size) MUST_CHECK;
// Makes a frame of SIZE bytes, at most FRAME_MOST_BYTES where nothing else is said; the caller
// frees it.
struct imp_error *frame_packer_pack(struct frame_packer *packer, const void *bytes, size_t size,
				    struct frame *ret) MUST_CHECK;

#endif
