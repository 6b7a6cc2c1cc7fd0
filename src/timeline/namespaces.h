// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The sets of namespaces that threads were in, each once.
#ifndef TIMELINE_NAMESPACES_H
#define TIMELINE_NAMESPACES_H

#include "base/array.h"
#include "base/error.h"
#include "base/table.h"

// In the order of the kernel.
enum namespace_kind {
	NAMESPACE_NET,
	NAMESPACE_UTS,
	NAMESPACE_IPC,
	NAMESPACE_PID,
	NAMESPACE_USER,
	NAMESPACE_MOUNT,
	NAMESPACE_CGROUP,
	NAMESPACE_KINDS
};

// An inode of nsfs; the inode is 0 where none was recorded.
struct namespace_file {
	uint64_t device, inode;
};

struct namespace_set {
	struct namespace_file kinds[NAMESPACE_KINDS];
};

// Zero-initialised is empty.
struct namespace_sets {
	ARRAY_OF(struct namespace_set) all;
	struct table by_content;
};

void namespace_sets_fini(struct namespace_sets *sets);

// The number of SET, which is added at first sight.
struct imp_error *namespace_sets_intern(struct namespace_sets *sets,
					const struct namespace_set *set, uint32_t *ret) MUST_CHECK;

#endif
