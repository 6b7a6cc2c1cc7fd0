// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From an image's identity to a file: asks each source in turn, trusts none, remembers where it
// looked.
#ifndef FIND_FINDER_H
#define FIND_FINDER_H

#include <stddef.h>

#include "base/log.h"
#include "elf/elf_image.h"
#include "model/image.h"
#include "model/reason.h"

struct finder;

struct finder_options {
	// Lent; NULL for silence.
	const struct log *log;
	// --images: directories (or archives) searched by build ID, whatever their layout.
	// NULL-terminated or NULL.
	const char *const *image_dirs;
	// imprint's own store; NULL: none.
	const char *store_dir;
	// perf's cache (~/.debug); NULL: none.
	const char *buildid_dir;
	// --debug-file-directory: where .build-id trees stand; NULL: { "/usr/lib/debug" }.
	const char *const *debug_dirs;
	// --symfs: prefix of recorded paths; NULL: none.
	const char *symfs;
	const char *sysroot;
	// -k/--vmlinux and --kallsyms; used if their ID is the kernel's. NULL: the usual places.
	const char *vmlinux;
	const char *kallsyms;
	// Directory of debuginfod's client cache; NULL: none. Never causes traffic.
	const char *debuginfod_cache;
	// Use what is found at the recorded path even though its ID differs; the result is marked.
	bool force;
};

// OPTIONS' strings are copied.
struct imp_error *finder_new(const struct finder_options *options, struct finder **ret) MUST_CHECK;
void finder_free(struct finder *finder);

// What one place had: for `explain`, and for the reason in reports.
enum find_outcome {
	FIND_ABSENT,
	FIND_MATCH,
	FIND_OTHER_BUILD,
	FIND_NO_ID,
	FIND_UNREADABLE,
	FIND_SKIPPED
};

struct find_step {
	// The source's name ("store", "path", "debug tree", …): a row of the table of sources.
	const char *source;
	char *place;
	enum find_outcome outcome;
	// What was found there instead, for FIND_OTHER_BUILD.
	struct build_id other;
	// Why, for FIND_UNREADABLE and FIND_SKIPPED; or NULL.
	char *detail;
};

// The answer for one image. Lent by the finder, immutable, kept until finder_free().
struct finding {
	// The file with the code (segments), or NULL.
	struct elf_image *image;
	// The best file with symbols or DWARF for the same build: may be `image` itself, or NULL.
	struct elf_image *debug;
	// For kernels named by a kallsyms: its path; or NULL.
	const char *kallsyms;
	// KNOWN when something was found.
	enum unknown_reason reason;
	bool is_forced;
	const struct find_step *steps;
	size_t step_count;
};

// Finds IMAGE. Not finding is an answer; errors are for memory. Safe from many threads; each image
// is looked for once.
struct imp_error *finder_find(struct finder *finder, const struct image *image,
			      const struct finding **ret) MUST_CHECK;

#endif
