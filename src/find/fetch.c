// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The words of fetching, and its servers.
#include "find/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

static const char *const outcome_names[FETCH_OUTCOMES] = {
	[FETCH_WAITING] = "waiting", [FETCH_DONE] = "fetched",	[FETCH_KNOWN] = "known",
	[FETCH_ABSENT] = "absent",   [FETCH_FAILED] = "failed", [FETCH_WRONG] = "wrong-build",
	[FETCH_STOPPED] = "stopped",
};

const char *fetch_part_name(enum fetch_part part)
{
	return part == FETCH_EXECUTABLE ? "executable" : "debuginfo";
}

const char *fetch_outcome_name(enum fetch_outcome outcome)
{
	return outcome_names[outcome];
}

void fetch_job_fini(struct fetch_job *job)
{
	free(job->path);
	job->path = NULL;
}

bool fetch_is_built_in(void)
{
	return HAVE_DEBUGINFOD;
}

struct imp_error *fetch_servers(const char *text, const char ***ret, char **storage)
{
	_cleanup_free_ char *copy = strdup(text);
	_cleanup_free_ const char **servers = calloc(strlen(text) / 2 + 2, sizeof *servers);
	size_t count = 0;
	if (!copy || !servers)
		return &imp_error_no_memory;
	char *rest = copy;
	for (char *word; (word = strsep(&rest, " \t\n"));) {
		if (!*word || !strncmp(word, "ima:", 4))
			continue;
		size_t length = strlen(word);
		while (length && word[length - 1] == '/')
			word[--length] = 0;
		servers[count++] = word;
	}
	*storage = steal(copy);
	*ret = steal(servers);
	return NULL;
}

#if !HAVE_DEBUGINFOD
struct imp_error *fetch(const struct fetch_options *options, struct fetch_job *jobs, size_t count)
{
	(void)options, (void)jobs, (void)count;
	return error_new(IMP_ERR_UNSUPPORTED, "this imprint was built without fetching");
}
#endif
