// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The running kernel and its modules beside those that are installed.
#ifndef ENVIRONMENT_STALE_KERNEL_H
#define ENVIRONMENT_STALE_KERNEL_H

#include "environment/known_ids.h"
#include "environment/stale.h"
#include "live/proc.h"

// Appends a row for the kernel, if one is installed, and one for each module whose installed file
// is another build, to REPORT. IDs of packed files are looked for in KNOWN first, and new ones are
// added there.
struct imp_error *stale_check_kernel(struct snapshot *snapshot, const struct proc *proc,
				     struct known_ids *known,
				     struct stale_report *report) MUST_CHECK;

// The kernels to compare are those of one flavour: RELEASE without its numbers.
bool kernel_flavours_equal(const char *a, const char *b);

// The version text of a bzImage ("6.1.0-18-amd64 (builder) #1 SMP …") out of its first SIZE bytes
// into VERSION; false when it is none.
bool bzimage_version(const void *bytes, size_t size, char *version, size_t version_size);

#endif
