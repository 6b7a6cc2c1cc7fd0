// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What is to be fetched from debuginfod servers, and from which: for the verbs that use the network
// when asked.
#ifndef CLI_WISHES_H
#define CLI_WISHES_H

#include "analyze/hits.h"
#include "cli/options.h"
#include "find/fetch.h"
#include "find/finder.h"

// Zero-initialised is empty.
struct wishes {
	// Jobs and, by the same number, the path of the image they are for (or NULL).
	ARRAY_OF(struct fetch_job) jobs;
	ARRAY_OF(char *) paths;
	// Lent to the jobs.
	const char **servers;
	char *server_text;
	// Programs and libraries only.
	bool no_debug;
	// Of images that are sampled: the least per cent of the samples.
	double min_percent;
};

void wishes_fini(struct wishes *wishes);

// Wishes for what FINDER does not find of IMAGE here.
struct imp_error *wishes_add(struct wishes *wishes, struct finder *finder,
			     const struct image *image) MUST_CHECK;

// The same for all images that HITS counted in what SURVEY surveyed: the most sampled first, then
// those that only callers are in. Takes the counts out of HITS.
struct imp_error *wishes_add_hits(struct wishes *wishes, struct finder *finder,
				  const struct survey *survey, struct hits *hits) MUST_CHECK;

// The same for the recording at PATH, in a pass over it.
struct imp_error *wishes_add_recording(struct wishes *wishes, struct finder *finder,
				       const char *path, const struct log *log) MUST_CHECK;

// Chooses the servers: those of LIST, or without any those of $DEBUGINFOD_URLS.
struct imp_error *wishes_choose_servers(struct wishes *wishes,
					const struct option_list *list) MUST_CHECK;

// Fetches all, within TIMEOUT_S seconds, PARALLEL at once; an interrupt (SIGINT) ends it, and
// *was_interrupted tells.
struct imp_error *wishes_fetch(struct wishes *wishes, const struct log *log, double timeout_s,
			       unsigned parallel, bool *was_interrupted) MUST_CHECK;

#endif
