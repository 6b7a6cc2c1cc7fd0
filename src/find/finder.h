// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From an image's identity to a file: asks each source in turn, trusts none, remembers where it
// looked.
#ifndef FIND_FINDER_H
#define FIND_FINDER_H

#include <stddef.h>

#include "base/array.h"
#include "base/log.h"
#include "elf/symbols.h"
#include "model/image.h"
#include "model/reason.h"

struct finder;
struct store;

// What one place had: for `explain`, and for the reason in reports.
enum find_outcome {
	FIND_ABSENT,
	FIND_MATCH,
	FIND_OTHER_BUILD,
	FIND_NO_ID,
	FIND_UNREADABLE,
	FIND_SKIPPED,
	FIND_OUTCOMES
};

// "absent", "match", "other-build", "no-id", "unreadable", "skipped".
const char *find_outcome_name(enum find_outcome outcome);

// What is still lacking of an image.
struct find_wanted {
	const struct build_id *id;
	// The file that was mapped; a file that tells more of names than what is there.
	bool image, debug;
};

// A store elsewhere, asked for what is found nowhere here: the only source that may use the
// network.
struct finder_remote {
	// What it is called in steps; lent until `free`.
	const char *name;
	// Puts what there is of WANTED into STORE. FIND_MATCH when something came; else why not,
	// with a constant *detail or NULL. Errors are for memory. From any thread. NULL: there is
	// no such store.
	struct imp_error *(*pull)(void *arg, const struct find_wanted *wanted, struct store *store,
				  enum find_outcome *ret, const char **detail);
	void (*free)(void *arg);
	void *arg;
};

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
	// Taken, also when finder_new() fails. It needs a store_dir, which is then written to.
	struct finder_remote remote;
	// Images' paths are files that the user named: they come before everything else.
	bool is_path_named;
	// Use what is found at the recorded path even though its ID differs; the result is marked.
	bool force;
};

// OPTIONS' strings are copied, its remote is taken.
struct imp_error *finder_new(const struct finder_options *options, struct finder **ret) MUST_CHECK;
void finder_free(struct finder *finder);

struct find_step {
	// The source's name ("store", "path", "debug tree", …): a row of the table of sources.
	const char *source;
	char *place;
	enum find_outcome outcome;
	// What was found there instead, for FIND_OTHER_BUILD.
	struct build_id other;
	// What a match has of names, or why it is FIND_UNREADABLE or FIND_SKIPPED; or NULL.
	const char *detail;
};

// How much a file tells of names, from least to most.
enum find_rank { RANK_NOTHING, RANK_DYNSYM, RANK_DEBUGDATA, RANK_SYMTAB, RANK_DWARF };

// "nothing", ".dynsym", ".gnu_debugdata", ".symtab", "DWARF".
const char *find_rank_name(enum find_rank rank);

// How much IMAGE tells.
enum find_rank find_rank_of(const struct elf_image *image);

// The answer for one image. Lent by the finder, immutable, kept until finder_free(). Files are
// opened once: equal files of different findings are the same struct elf_image.
struct finding {
	// The file whose headers turn an offset into an address, or NULL.
	const struct elf_image *image;
	// The file of the same build that tells most of names: may be `image` itself, or NULL.
	const struct elf_image *debug;
	// The file that debug's .gnu_debugaltlink names (dwz), or NULL.
	const struct elf_image *alt;
	// For a kernel or a module of which no ELF file with symbols was found: the functions that
	// kallsyms names, at the addresses where they ran, and the file's path; or NULL. Addresses
	// of finding_address() are then those of this table.
	const struct symbols *kallsyms;
	const char *kallsyms_path;
	// Where offset 0 of the image lies in the tables: the address of the kernel's reference
	// symbol, of the module's base, or of a vdso's first byte.
	uint64_t base;
	// KNOWN when something was found.
	enum unknown_reason reason;
	// At the recorded path there was this build instead; none otherwise.
	struct build_id other;
	bool is_forced;
	const struct find_step *steps;
	size_t step_count;
};

// OFFSET of IMAGE (as model/image.h defines it for its kind) as the address that FINDING's symbols
// and DWARF speak. KNOWN and *ret; or why not, FINDING's own reason among them.
enum unknown_reason finding_address(const struct finding *finding, const struct image *image,
				    file_off offset, elf_addr *ret) MUST_CHECK;

// Finds IMAGE. Not finding is an answer; errors are for memory. Safe from many threads; each image
// is looked for once. IMAGE's strings are copied.
struct imp_error *finder_find(struct finder *finder, const struct image *image,
			      const struct finding **ret) MUST_CHECK;

// Lets process PID be asked for what it has mapped: the bytes of a file that was replaced or
// deleted since. Before the first question that needs it.
struct imp_error *finder_add_process(struct finder *finder, uint32_t pid) MUST_CHECK;

// The same for a process of a recording, if it is one that began before WRITTEN_S (CLOCK_REALTIME;
// 0: whenever it began), when the recording's file was last written.
struct imp_error *finder_add_survivor(struct finder *finder, uint32_t pid,
				      int64_t written_s) MUST_CHECK;

// The map of generated code of a process that was added, opened: see processes_open_map().
struct imp_error *finder_open_perf_map(struct finder *finder, uint32_t pid, int *ret,
				       char **place) MUST_CHECK;

struct found_ids {
	ARRAY_OF(struct build_id);
};
void found_ids_fini(struct found_ids *ids);
#define _cleanup_found_ids_ __attribute__((cleanup(found_ids_fini)))

// Appends the IDs that begin with PREFIX (hex digits, at least two) in the places that name files
// by ID.
struct imp_error *finder_complete(struct finder *finder, const char *prefix,
				  struct found_ids *ret) MUST_CHECK;

DEFINE_CLEANUP(struct finder *, finder, finder_free)
#define _cleanup_finder_ __attribute__((cleanup(cleanup_finder)))

#endif
