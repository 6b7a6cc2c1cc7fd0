// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The directory that debuginfod's clients share: HEX/executable and HEX/debuginfo; an empty file
// remembers for a while that no server had it (elfutils 0.188).
#ifndef FIND_FETCH_CACHE_H
#define FIND_FETCH_CACHE_H

#include "find/fetch.h"

// What the cache says of JOB: sets its outcome and path when that settles it.
struct imp_error *fetch_cache_ask(const char *dir, struct fetch_job *job) MUST_CHECK;

// A new file for JOB's bytes to arrive in: its descriptor and its path (the caller's).
struct imp_error *fetch_cache_create(const char *dir, const struct fetch_job *job, int *fd,
				     char **path) MUST_CHECK;

// Puts the file at TEMPORARY in its place when it is JOB's build: *is_right tells.
struct imp_error *fetch_cache_publish(const char *dir, struct fetch_job *job, const char *temporary,
				      bool *is_right) MUST_CHECK;

// Remembers that no server has JOB.
void fetch_cache_note_absent(const char *dir, const struct fetch_job *job);

#endif
