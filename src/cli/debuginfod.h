// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// --debuginfod: what a recording's samples need is fetched before they are named.
#ifndef CLI_DEBUGINFOD_H
#define CLI_DEBUGINFOD_H

#include "cli/naming.h"

// A member of a command's options struct; zeroed before parsing. Fill its rows in with
// DEBUGINFOD_OPTIONS().
struct debuginfod {
	// Servers; "" stands for those of $DEBUGINFOD_URLS. NULL: the network is not used.
	const char *servers;
	// For everything together; 0: 90.
	double timeout_s;
};

// What the argument of --debuginfod begins with when it is a word of its own; NULL-terminated.
extern const char *const debuginfod_words[];

#define DEBUGINFOD_OPTIONS(type, member)                                                           \
	{ .kind = OPTION_HEADING, .help = "Network (used only when asked for):" },                 \
		{ .kind = OPTION_OPTIONAL_TEXT,                                                    \
		  .name = "debuginfod",                                                            \
		  .argument = "URL",                                                               \
		  .fallback = "",                                                                  \
		  .words = debuginfod_words,                                                       \
		  .offset = offsetof(type, member) + offsetof(struct debuginfod, servers),         \
		  .help = "first fetch what is needed and not here, the most sampled first, from " \
			  "this server ($DEBUGINFOD_URLS)" },                                      \
	{                                                                                          \
		.kind = OPTION_REAL, .name = "timeout", .argument = "SECONDS",                     \
		.offset = offsetof(type, member) + offsetof(struct debuginfod, timeout_s),         \
		.help = "for all that is fetched together (90)"                                    \
	}

// Fetches what NAMING does not find for the recording at PATH; nothing when it was not asked for.
// What could not be fetched is told by LOG and is no error; an interrupt (SIGINT) ends the fetching
// alone.
struct imp_error *debuginfod_fetch(const struct debuginfod *debuginfod, const struct naming *naming,
				   const char *path, const struct log *log) MUST_CHECK;

#endif
