// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The files a finder has opened, each once however many paths lead to it.
#ifndef FIND_OPENED_H
#define FIND_OPENED_H

#include <pthread.h>

#include "base/array.h"
#include "elf/elf_image.h"

struct opened_file {
	uint64_t device, inode, size;
	int64_t changed_ns;
	struct elf_image *image;
};

struct opened {
	pthread_mutex_t lock;
	ARRAY_OF(struct opened_file) files;
};

void opened_init(struct opened *opened);
void opened_fini(struct opened *opened);

// The image in FD (taken), lent by OPENED. PATH is what a newly opened one is called.
struct imp_error *opened_get(struct opened *opened, int fd, const char *path,
			     const struct elf_image **ret) MUST_CHECK;

// Keeps IMAGE (taken, also on failure), which is no file, until opened_fini().
struct imp_error *opened_keep(struct opened *opened, struct elf_image *image) MUST_CHECK;

#endif
