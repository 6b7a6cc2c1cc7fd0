// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// (image, offset) -> the frames there, or the reason why not.
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H

#include "elf/symbols.h"
#include "find/finder.h"
#include "model/frame.h"

struct symbolizer;

struct symbolizer_options {
	const struct log *log;
	// Names as they stand in the symbol table.
	bool no_demangle;
	// Functions only: no DWARF is opened, no inlined frames, no lines.
	bool no_inline;
	// Where perf-PID.map files of run-time compilers stand (usually /tmp); NULL: none is read.
	// Copied.
	const char *map_dir;
	// The store whose saved indexes of lines and inlined calls are used; NULL: none. Copied.
	const char *index_dir;
};

// FINDER is lent until symbolizer_free().
struct imp_error *symbolizer_new(struct finder *finder, const struct symbolizer_options *options,
				 struct symbolizer **ret) MUST_CHECK;
void symbolizer_free(struct symbolizer *symbolizer);

// Keeps an index of each build of which most was read, so that the next who asks need not read it;
// where the store is there and may be written to. WORKERS 0: one thread for each processor.
struct imp_error *symbolizer_save_indexes(struct symbolizer *symbolizer,
					  unsigned workers) MUST_CHECK;

// Names OFFSET of IMAGE. With IS_RETURN the offset is a return address: it is looked up one byte
// earlier, where the call is, and frames' offsets still count from it. Not knowing is an answer
// (ret->unknown); errors are for memory. *ret is lent by the symbolizer. Safe from many threads.
struct imp_error *symbolize(struct symbolizer *symbolizer, const struct image *image,
			    file_off offset, bool is_return, struct frames *ret) MUST_CHECK;

// The same for an ADDRESS that symbol tables and DWARF speak, in an image that has a file.
struct imp_error *symbolize_address(struct symbolizer *symbolizer, const struct image *image,
				    elf_addr address, bool is_return,
				    struct frames *ret) MUST_CHECK;

// Reads what symbolize_address() will need for COUNT ADDRESSES of IMAGE, with WORKERS threads (0:
// one for each processor). Of use for many; nothing needs it.
struct imp_error *symbolizer_prepare(struct symbolizer *symbolizer, const struct image *image,
				     const elf_addr *addresses, size_t count,
				     unsigned workers) MUST_CHECK;

// The symbols that the name at ADDRESS was chosen from, the preferred one first: *first is the
// index of the preferred one in *ret, *count their number, which is 0 without symbols. Lent.
struct imp_error *symbolizer_aliases(struct symbolizer *symbolizer, const struct image *image,
				     elf_addr address, const struct symbols **ret, size_t *first,
				     size_t *count) MUST_CHECK;

// The finding that names IMAGE's places, for reports' last part.
struct imp_error *symbolizer_finding(struct symbolizer *symbolizer, const struct image *image,
				     const struct finding **ret) MUST_CHECK;

#endif
