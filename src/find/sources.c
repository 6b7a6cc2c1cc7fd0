// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The ladder: every place that is asked, in order.
#include "find/sources.h"

#define BIT(kind) (1U << (kind))

enum {
	KERNELS = BIT(IMAGE_KERNEL) | BIT(IMAGE_GUEST_KERNEL),
	MODULES = BIT(IMAGE_MODULE) | BIT(IMAGE_GUEST_MODULE),
	FILES = BIT(IMAGE_USER),
	VDSOS = BIT(IMAGE_VDSO),
	ALL = KERNELS | MODULES | FILES | VDSOS
};

// What the user named comes first, then what was captured while it was mapped (of several contents
// under one ID the one seen at the image's path), then where it was mapped from, then what is
// installed beside it, then what was fetched; and then, where one was named, a store
// elsewhere. A debug link is followed when the file that has it was found.
const struct source_def sources[] = {
	{ "path", KERNELS | MODULES | FILES, look_at_named_path },
	{ "images", ALL, look_in_images },
	{ "store", ALL, look_in_store },
	{ "path", KERNELS | MODULES | FILES, look_at_path },
	{ "process", FILES, look_at_processes },
	{ "perf cache", ALL, look_in_perf_cache },
	{ "vmlinux", KERNELS, look_for_vmlinux },
	{ "modules", MODULES, look_for_modules },
	{ "own vdso", VDSOS, look_at_own_vdso },
	{ "debug tree", ALL, look_in_debug_trees },
	{ "debug link", MODULES | FILES, look_by_debuglink },
	{ "debug path", KERNELS | MODULES | FILES, look_at_debug_paths },
	{ "debuginfod cache", ALL, look_in_debuginfod_cache },
	{ "remote store", ALL, look_in_remote },
	{ "kallsyms", KERNELS | MODULES, look_at_kallsyms },
};

const size_t source_count = sizeof sources / sizeof *sources;
