/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* From a place in an image to the functions and lines there, or the reason why not. */
#ifndef IMPRINT_SYMBOLIZER_H
#define IMPRINT_SYMBOLIZER_H

#include <imprint/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

struct imp_symbolizer;

/* Where files are looked for. Each is used only if its own build ID is the image's. Strings are
 * copied. */
struct imp_symbolizer_options {
	/* sizeof(struct imp_symbolizer_options) */
	size_t size;
	/* Searched by build ID, whatever their layout. NULL-terminated, or NULL. */
	const char *const *image_dirs;
	/* imprint's store, and perf's cache (~/.debug); NULL: none. */
	const char *store_dir;
	const char *buildid_dir;
	/* Where .build-id trees stand; NULL-terminated; NULL: /usr/lib/debug. */
	const char *const *debug_dirs;
	/* Names as in the symbol table; functions only, no inlined frames and no lines. */
	bool no_demangle;
	bool no_inline;
};

/* OPTIONS may be NULL. *ret is the caller's; give it to imp_symbolizer_free(). */
IMP_API struct imp_error *imp_symbolizer_new(const struct imp_symbolizer_options *options,
					     struct imp_symbolizer **ret);
IMP_API void imp_symbolizer_free(struct imp_symbolizer *symbolizer);

struct imp_frame {
	const char *function;
	/* NULL and 0 when not known. */
	const char *file;
	uint32_t line;
	uint32_t column;
	/* Distance from the function's start; 0 in inlined frames. */
	uint64_t offset;
	/* Inlined into the next frame. */
	bool is_inlined;
};

struct imp_frames {
	/* Innermost first. */
	const struct imp_frame *items;
	size_t count;
	/* Why there are none ("image-not-found", "no-symbols", …); NULL when there are. */
	const char *unknown;
};

/* Names OFFSET of IMAGE of RECORDING. A return address (all of a call chain but its first) is
 * looked up one byte earlier. Not knowing is an answer; errors are for memory. *ret is lent by the
 * symbolizer and changes with the next call of the same thread. Safe from many threads. */
IMP_API struct imp_error *imp_symbolize(struct imp_symbolizer *symbolizer,
					const struct imp_recording *recording, size_t image,
					uint64_t offset, bool is_return, struct imp_frames *ret);

#ifdef __cplusplus
}
#endif

#endif
