// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The options by which every verb that names code says where files are, and what is made of them.
#ifndef CLI_NAMING_H
#define CLI_NAMING_H

#include "analyze/analysis.h"
#include "cli/options.h"
#include "find/finder.h"
#include "profile/profile.h"
#include "symbolize/symbolizer.h"

// A member of a command's options struct; zeroed before parsing. Fill its rows in with
// NAMING_OPTIONS().
struct naming {
	struct option_list image_dirs;
	struct option_list debug_dirs;
	const char *store_dir;
	const char *buildid_dir;
	const char *symfs;
	const char *sysroot;
	const char *vmlinux;
	const char *kallsyms;
	bool force;
	// Images' paths are those of files that the user named.
	bool is_path_named;
	bool no_demangle;
	bool no_inline;
	bool no_index;
};

// One row of a naming option: KIND, LETTER, NAME, ARGUMENT, HELP, and FIELD of MEMBER (a struct
// naming) in TYPE.
#define NAMING_ROW(type, member, kind_, letter_, name_, argument_, field, help_)                 \
	{                                                                                        \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_,          \
		.help = help_, .offset = offsetof(type, member) + offsetof(struct naming, field) \
	}

// Rows for finding files: for verbs that need no names of functions.
#define FINDING_OPTIONS(type, member)                                                              \
	{ .kind = OPTION_HEADING, .help = "Files (each is used only if its own build ID fits):" }, \
		NAMING_ROW(type, member, OPTION_LIST, 0, "images", "DIR", image_dirs,              \
			   "search DIR, or an archive of images, by build ID, whatever its "       \
			   "layout (may be repeated)"),                                            \
		NAMING_ROW(type, member, OPTION_TEXT, 0, "store", "DIR|URL", store_dir,            \
			   "imprint's store ($IMPRINT_STORE), or one elsewhere to read through"),  \
		NAMING_ROW(type, member, OPTION_TEXT, 0, "buildid-dir", "DIR", buildid_dir,        \
			   "perf's cache (~/.debug)"),                                             \
		NAMING_ROW(type, member, OPTION_LIST, 0, "debug-file-directory", "DIR",            \
			   debug_dirs, "where a .build-id tree stands (/usr/lib/debug)"),          \
		NAMING_ROW(type, member, OPTION_TEXT, 0, "symfs", "DIR", symfs,                    \
			   "look for recorded paths below DIR"),                                   \
		NAMING_ROW(type, member, OPTION_TEXT, 0, "sysroot", "DIR", sysroot,                \
			   "look for recorded paths and debug trees below DIR, too"),              \
		NAMING_ROW(type, member, OPTION_TEXT, 'k', "vmlinux", "FILE", vmlinux,             \
			   "the kernel's image"),                                                  \
		NAMING_ROW(type, member, OPTION_TEXT, 0, "kallsyms", "FILE", kallsyms,             \
			   "the kernel's symbols"),                                                \
		NAMING_ROW(type, member, OPTION_FLAG, 'f', "force", NULL, force,                   \
			   "use the file at the recorded path although its build ID differs; "     \
			   "what it names is marked")

// Rows for finding files and naming what is in them.
#define NAMING_OPTIONS(type, member)                                                       \
	FINDING_OPTIONS(type, member),                                                     \
		NAMING_ROW(type, member, OPTION_FLAG, 0, "no-demangle", NULL, no_demangle, \
			   "names as they stand in the symbol table"),                     \
		NAMING_ROW(type, member, OPTION_FLAG, 0, "no-inline", NULL, no_inline,     \
			   "functions only: no inlined frames, no source lines"),          \
		NAMING_ROW(type, member, OPTION_FLAG, 0, "no-index", NULL, no_index,       \
			   "neither use nor keep indexes of source lines in the store")

// The directory of the user's own store, which the caller frees: the one that is named, but where
// that is a URL, the usual one. NULL when there is none.
char *naming_own_store(const struct naming *naming);

// What the options and the environment (HOME, IMPRINT_STORE, XDG_DATA_HOME, XDG_CACHE_HOME,
// DEBUGINFOD_CACHE_PATH) make of it. LOG is lent until finder_free().
struct imp_error *naming_finder(const struct naming *naming, const struct log *log,
				struct finder **ret) MUST_CHECK;

// FINDER is lent until symbolizer_free().
struct imp_error *naming_symbolizer(const struct naming *naming, const struct log *log,
				    struct finder *finder, struct symbolizer **ret) MUST_CHECK;

// What names are wanted of a profile. Without lines no DWARF is opened: functions are named by
// symbols alone.
enum naming_depth { NAMING_NONE, NAMING_FUNCTIONS, NAMING_LINES };

// Analyzes the recording at PATH (ANALYSIS has no finder) and names all of the profile's spots, by
// files of one finder for callers and names.
struct imp_error *naming_analyze(const struct naming *naming, const char *path,
				 const struct analysis_options *analysis, enum naming_depth depth,
				 struct profile **ret) MUST_CHECK;

void naming_fini(struct naming *naming);

#endif
