// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files on their way into the store: what each is, is read from its own bytes.
#ifndef FIND_INTAKE_H
#define FIND_INTAKE_H

#include "base/log.h"
#include "elf/elf_brief.h"
#include "elf/elf_image.h"
#include "store/store.h"

// Role and rank of an image as an item of the store, from its headers.
void intake_describe(const struct elf_brief *brief, struct store_item *item);
// The same, and the ID, of an open image.
void intake_describe_image(const struct elf_image *image, struct store_item *item);

enum intake_outcome {
	// In the batch (which may find that the store has these bytes).
	INTAKE_ADDED,
	// Seen before and unchanged: not read again.
	INTAKE_KNOWN,
	// No program, library, kernel, module or debug file.
	INTAKE_NO_IMAGE
};

struct intake {
	// All lent.
	struct store *store;
	struct store_batch *batch;
	const struct log *log;
	// Unpack compressed files whatever they are called; else only modules and kernels.
	bool unpacks_all;
};

// Takes the file FD (which stays the caller's) in as seen at PATH. Safe from many threads.
struct imp_error *intake_fd(const struct intake *intake, int fd, const char *path,
			    enum intake_outcome *ret) MUST_CHECK;

struct intake_counts {
	size_t added, known, no_image, unreadable;
};

// Takes in all that process PID has mapped executable, from the mappings themselves, and its vdso.
// What cannot be reached is counted and told to the log. *found is false when there is no such
// process.
struct imp_error *intake_process(const struct intake *intake, uint32_t pid,
				 struct intake_counts *counts, bool *found) MUST_CHECK;

// Takes in what the running kernel tells of itself: kallsyms, the list of modules, notes, and the
// files of the kernel and its modules where their IDs are right.
struct imp_error *intake_kernel(const struct intake *intake,
				struct intake_counts *counts) MUST_CHECK;

#endif
