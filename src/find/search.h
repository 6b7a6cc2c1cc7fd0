// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One search in progress, for this folder: what is looked for, what was found, where was looked.
#ifndef FIND_SEARCH_H
#define FIND_SEARCH_H

#include "base/array.h"
#include "find/finder.h"
#include "find/opened.h"

struct dir_index;
struct kernels;
struct processes;
struct store;

// What all searches share.
struct finder {
	struct finder_options options;
	// Owns the strings of options.
	ARRAY_OF(char *) strings;
	// NULL-terminated lists of options.
	const char **image_dirs, **debug_dirs;
	struct opened opened;
	struct dir_index *index;
	struct kernels *kernels;
	struct processes *processes;
	// NULL: none.
	struct store *store;
	struct cache *cache;
};

// Ways to write an ID whose length was not recorded.
enum { SEARCH_IDS_MOST = 4 };

struct search {
	struct finder *finder;
	const struct image *image;
	struct finding *finding;
	ARRAY_OF(struct find_step) steps;
	// The IDs that name files in trees; one, unless the length was not recorded.
	struct build_id ids[SEARCH_IDS_MOST];
	size_t id_count;
	// The row being asked.
	const char *source;
	enum find_rank rank;
	// What is looked for is a dwz file, which has no code.
	bool is_alt;
	// What is found by path although its ID differs is used: the last resort of --force.
	bool takes_any;
};

// A row of the table of sources.
struct source_def {
	const char *name;
	// Bits of enum image_kind.
	unsigned kinds;
	// Looks for what SEARCH still lacks. Not finding is no error.
	struct imp_error *(*look)(struct search *search);
};

// Everything that can be found was found.
bool search_is_complete(const struct search *search);

// Opens the file at PATH and takes it if it is the build that is looked for; notes the step.
struct imp_error *search_try(struct search *search, const char *path) MUST_CHECK;
// The same with the path made by FORMAT.
struct imp_error *search_try_format(struct search *search, const char *format, ...) MUST_CHECK
	__attribute__((format(printf, 2, 3)));
// The same for an open file (taken); PLACE names it.
struct imp_error *search_try_fd(struct search *search, int fd, const char *place) MUST_CHECK;

// True when ID is the one that is looked for.
bool search_wants(const struct search *search, const struct build_id *id);

// Notes that PLACE had OUTCOME. OTHER and DETAIL (a constant) may be NULL.
struct imp_error *search_note(struct search *search, const char *place, enum find_outcome outcome,
			      const struct build_id *other, const char *detail) MUST_CHECK;

// Takes FILE, which is the right build, for what it is good for; notes the step.
struct imp_error *search_take(struct search *search, const struct elf_image *file,
			      const char *place, const char *detail) MUST_CHECK;

// Appends NAME to a directory of the search, freed by the caller; NULL when memory ran out.
char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The sources; see sources.c.
struct imp_error *look_in_images(struct search *search);
struct imp_error *look_in_store(struct search *search);
struct imp_error *look_in_perf_cache(struct search *search);
struct imp_error *look_at_processes(struct search *search);
struct imp_error *look_at_named_path(struct search *search);
struct imp_error *look_at_path(struct search *search);
struct imp_error *look_in_debug_trees(struct search *search);
struct imp_error *look_by_debuglink(struct search *search);
struct imp_error *look_at_debug_paths(struct search *search);
struct imp_error *look_in_debuginfod_cache(struct search *search);
struct imp_error *look_in_remote(struct search *search);
struct imp_error *look_for_vmlinux(struct search *search);
struct imp_error *look_for_modules(struct search *search);
struct imp_error *look_at_kallsyms(struct search *search);
struct imp_error *look_at_own_vdso(struct search *search);

#endif
