// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Fetching ahead of naming.
#include "cli/debuginfod.h"

#include <string.h>

#include "cli/terminal.h"
#include "cli/wishes.h"

enum { TIMEOUT_SECONDS = 90, LONGEST_SECONDS = 1000000 };

const char *const debuginfod_words[] = { "http://", "https://", NULL };

// Images with less than this per cent of the samples are left alone.
static const double min_percent = 0.1;

static struct imp_error *choose_servers(const struct debuginfod *debuginfod, struct wishes *wishes)
{
	const char *text = debuginfod->servers;
	struct option_list list = { .items = &text, .count = *text ? 1 : 0 };
	struct imp_error *err = wishes_choose_servers(wishes, &list);
	if (err && !*text)
		return error_context(err, "--debuginfod");
	return err;
}

// One line about what came and what did not.
static void tell(const struct wishes *wishes, bool was_interrupted, const struct log *log)
{
	size_t counts[FETCH_OUTCOMES] = { 0 };
	uint64_t size = 0;
	for (size_t i = 0; i < wishes->jobs.count; i++) {
		counts[wishes->jobs.items[i].outcome]++;
		if (wishes->jobs.items[i].outcome == FETCH_DONE)
			size += wishes->jobs.items[i].size_bytes;
	}
	size_t got = counts[FETCH_DONE] + counts[FETCH_KNOWN];
	bool has_trouble = got + counts[FETCH_ABSENT] < wishes->jobs.count;
	log_message(log, has_trouble ? LOG_WARNING : LOG_NOTE,
		    "debuginfod: %zu of %zu files are here now (%.1f MB fetched); no server has "
		    "%zu, %zu failed, %zu were another build, %zu were not reached %s",
		    got, wishes->jobs.count, (double)size / 1e6, counts[FETCH_ABSENT],
		    counts[FETCH_FAILED], counts[FETCH_WRONG], counts[FETCH_STOPPED],
		    was_interrupted ? "before the interrupt" : "in time");
}

static struct imp_error *fetch_for(const struct debuginfod *debuginfod, const struct naming *naming,
				   const char *path, const struct log *log, struct wishes *wishes)
{
	double timeout_s = debuginfod->timeout_s != 0 ? debuginfod->timeout_s : TIMEOUT_SECONDS;
	if (!(timeout_s > 0) || timeout_s > LONGEST_SECONDS)
		return error_new(IMP_ERR_USAGE, "--timeout is a number of seconds above 0");
	if (!strcmp(path, "-"))
		return error_new(IMP_ERR_USAGE, "--debuginfod needs a file: the recording is read "
						"once for what it needs and once for its samples");
	_cleanup_finder_ struct finder *finder = NULL;
	bool was_interrupted = false;
	struct imp_error *err = choose_servers(debuginfod, wishes);
	if (!err)
		err = naming_finder(naming, log, &finder);
	if (!err)
		err = wishes_add_recording(wishes, finder, path, log);
	if (!err)
		err = wishes_fetch(wishes, log, timeout_s, 0, &was_interrupted);
	if (err)
		return err;
	terminal_end_progress();
	if (wishes->jobs.count)
		tell(wishes, was_interrupted, log);
	return NULL;
}

struct imp_error *debuginfod_fetch(const struct debuginfod *debuginfod, const struct naming *naming,
				   const char *path, const struct log *log)
{
	if (!debuginfod->servers)
		return NULL;
	struct wishes wishes = { .min_percent = min_percent };
	struct imp_error *err = fetch_for(debuginfod, naming, path, log, &wishes);
	wishes_fini(&wishes);
	return err;
}
