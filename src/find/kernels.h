// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What running kernels said of their symbols: this machine's /proc, and copies of others'.
#ifndef FIND_KERNELS_H
#define FIND_KERNELS_H

#include "base/array.h"
#include "base/log.h"
#include "elf/kallsyms.h"
#include "model/build_id.h"

struct kernels;

struct kernels *kernels_new(const struct log *log);
void kernels_free(struct kernels *kernels);

struct snapshot_module {
	char *name;
	struct build_id id;
	// Where its text began; 0 when hidden.
	uint64_t base;
};

// The symbols of one kernel at one time.
struct snapshot {
	// Where its kallsyms are.
	char *path;
	// The kernel's, as what stands beside the kallsyms says; or none.
	struct build_id id;
	ARRAY_OF(struct snapshot_module) modules;
	// Read when it is needed.
	struct kallsyms *kallsyms;
	bool was_read;
};

// This machine's: IDs from /sys, symbols from /proc/kallsyms.
struct imp_error *kernels_running(struct kernels *kernels, struct snapshot **ret) MUST_CHECK;

// A copy at PATH. What proves its identity stands beside it: the directory is named by the kernel's
// ID (perf's cache), or "notes" is a copy of /sys/kernel/notes; "modules" is a copy of
// /proc/modules, and "module-buildids" has lines of a module's name and its ID. ID, if not NULL, is
// known from elsewhere.
struct imp_error *kernels_copy(struct kernels *kernels, const char *path, const struct build_id *id,
			       struct snapshot **ret) MUST_CHECK;

// The module NAME of SNAPSHOT, or NULL.
const struct snapshot_module *snapshot_module(const struct snapshot *snapshot, const char *name);

// The symbols of SNAPSHOT. NULL when they cannot be read or all addresses are hidden; *why then
// says so. Lent by KERNELS.
struct imp_error *kernels_symbols(struct kernels *kernels, struct snapshot *snapshot,
				  const struct kallsyms **ret, const char **why) MUST_CHECK;

// The vdso of this process, kept by the caller; NULL when there is none.
struct imp_error *own_vdso(struct elf_image **ret) MUST_CHECK;

#endif
