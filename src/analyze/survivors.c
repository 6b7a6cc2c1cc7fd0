// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The numbers that are a process's now and were one's in the recording.
#include "analyze/survivors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "live/process.h"

static bool is_of_this_host(const struct recording *recording)
{
	struct utsname here;
	const char *host = recording_features(recording)->hostname;
	return !host || (uname(&here) == 0 && !strcmp(host, here.nodename));
}

// When the recording's file was last written, in seconds of CLOCK_REALTIME; 0 when it is none.
static int64_t written_at(const struct recording *recording)
{
	struct stat status;
	bool is_file = stat(recording_path(recording), &status) == 0 && S_ISREG(status.st_mode);
	return is_file ? status.st_mtim.tv_sec : 0;
}

static int compare_pids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

struct imp_error *survivors_add(const struct recording *recording, const struct survey *survey,
				struct finder *finder)
{
	_cleanup_proc_ struct proc *proc = NULL;
	_cleanup_pids_ struct pids running = { 0 };
	if (!is_of_this_host(recording))
		return NULL;
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = process_list(proc, &running);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		// Without /proc there is nobody to ask.
		imp_error_free(err);
		return NULL;
	}
	int64_t written_s = written_at(recording);
	size_t at = 0;
	for (uint32_t pid;
	     !err && running.count && timeline_next_process(survey->timeline, &at, &pid);)
		if (bsearch(&pid, running.items, running.count, sizeof pid, compare_pids))
			err = finder_add_survivor(finder, pid, written_s);
	return err;
}
