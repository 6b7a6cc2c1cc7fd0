// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Profiles with names from given files alone, and the rows of perf's own report beside a recording.
#ifndef TESTS_ANALYZE_NAMED_H
#define TESTS_ANALYZE_NAMED_H

#include <stdio.h>

#include "find/finder.h"
#include "profile/profile.h"

// The profile of the recording at PATH, told apart by process, with names by FILES: nothing else of
// this machine is looked at but the running kernel. NULL (and a failed check) when that cannot be.
struct profile *named_profile(const char *path, const char *const *image_dirs,
			      const char *kallsyms);

// A place of a profile where samples were taken.
struct named_row {
	uint64_t samples;
	uint32_t event;
	const struct task *task;
	// NULL where nothing was mapped.
	const struct profile_object *object;
	// The innermost function, or NULL.
	const char *function;
	enum unknown_reason reason;
};

// Calls TAKE for each of them. PROFILE has no call chains.
void named_rows(const struct profile *profile, void (*take)(void *arg, const struct named_row *row),
		void *arg);

// A row of a report.txt: " 433  |appB  |libfoo.so  |[.] v2_crypt".
struct perfs_row {
	unsigned long long samples;
	char comm[64], object[256], symbol[512];
	bool is_kernel;
};

// False for a line that is none.
bool perfs_row_read(const char *line, struct perfs_row *ret);

#endif
