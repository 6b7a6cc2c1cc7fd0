// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Downloads by build ID from debuginfod servers into the directory that debuginfod's clients share.
//
// The only place that uses the network, and only when it is called. One deadline for everything; a
// server that failed is not asked again; what arrives is used only when its own build ID is right.
#ifndef FIND_FETCH_H
#define FIND_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "model/build_id.h"

#include "base/error.h"

enum fetch_part { FETCH_EXECUTABLE, FETCH_DEBUGINFO };

// "executable", "debuginfo": as the protocol and the cache call them.
const char *fetch_part_name(enum fetch_part part);

enum fetch_outcome {
	FETCH_WAITING,
	// Fetched and verified.
	FETCH_DONE,
	// Was in the cache.
	FETCH_KNOWN,
	// No server has it; remembered for a while.
	FETCH_ABSENT,
	// No server has it that answered, and some did not.
	FETCH_FAILED,
	// A server gave a file of another build.
	FETCH_WRONG,
	// The deadline passed or the user stopped it.
	FETCH_STOPPED,
	FETCH_OUTCOMES
};

// "waiting", "fetched", "known", "absent", "failed", "wrong-build", "stopped".
const char *fetch_outcome_name(enum fetch_outcome outcome);

// One file to be fetched, and what became of it.
struct fetch_job {
	struct build_id id;
	enum fetch_part part;
	enum fetch_outcome outcome;
	uint64_t size_bytes;
	// Which server had it; lent by the options.
	const char *server;
	// Where it is; owned.
	char *path;
};

struct fetch_options {
	const struct log *log;
	// "http://…", "https://…", in order of preference; NULL-terminated.
	const char *const *servers;
	// The cache's directory, made when it is not there.
	const char *cache_dir;
	// For all jobs together.
	double timeout_s;
	// How many at once; 0: 8.
	unsigned parallel;
	// Further lines of each request ("Via: …"); NULL-terminated, NULL: none.
	const char *const *headers;
	// A server that sends more for one file has failed. 0: no limit.
	uint64_t most_bytes;
	// Asked now and then; NULL: never stop.
	bool (*is_stopped)(void *arg);
	void *arg;
};

// Does JOBS in their order, several at once. What fails is an outcome; errors are for memory and a
// cache that cannot be written.
struct imp_error *fetch(const struct fetch_options *options, struct fetch_job *jobs,
			size_t count) MUST_CHECK;

void fetch_job_fini(struct fetch_job *job);

// False in a build without libcurl: fetch() is then IMP_ERR_UNSUPPORTED.
bool fetch_is_built_in(void);

// The servers in TEXT as DEBUGINFOD_URLS has them: words apart from its "ima:" policies. To *ret a
// NULL-terminated list, and *storage that holds its strings; both are the caller's to free.
struct imp_error *fetch_servers(const char *text, const char ***ret, char **storage) MUST_CHECK;

#endif
