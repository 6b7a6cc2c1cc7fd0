// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which samples are meant, when not all are: those of some tasks, CPUs, a stretch of time.
#ifndef ANALYZE_SAMPLE_CHOICE_H
#define ANALYZE_SAMPLE_CHOICE_H

#include "base/array.h"
#include "perfdata/feature.h"
#include "perfdata/sample.h"
#include "timeline/timeline.h"

struct number_range {
	// Both included.
	uint32_t first, last;
};

struct number_list {
	struct number_range *items;
	size_t count;
	size_t room;
};

// Zero-initialised takes every sample. A sample must fit each list that is not empty.
struct sample_choice {
	struct number_list pids, tids, cpus;
	// Names of commands, lent.
	ARRAY_OF(const char *) comms;
	// Nanoseconds as in the samples' times, both included; `to_ns` 0 is no end.
	uint64_t from_ns, to_ns;
	// The same in shares of the time between the first sample and the last, which
	// sample_choice_settle() turns into nanoseconds.
	bool has_shares;
	double from_share, to_share;
};

void sample_choice_fini(struct sample_choice *choice);

// Each reads what a user typed: "12,34"; "0-3,8"; names separated by commas (TEXT is then cut up
// and lent); "START,STOP" in seconds, either of which may be missing, or "10%-20%". IMP_ERR_USAGE
// for anything else.
struct imp_error *sample_choice_read_numbers(const char *text, struct number_list *ret) MUST_CHECK;
struct imp_error *sample_choice_read_comms(char *text, struct sample_choice *ret) MUST_CHECK;
struct imp_error *sample_choice_read_times(const char *text, struct sample_choice *ret) MUST_CHECK;

// Makes times of shares, by what the recording says of its first and last sample.
struct imp_error *sample_choice_settle(struct sample_choice *choice,
				       const struct features *features) MUST_CHECK;

// Whether CHOICE (NULL takes all) takes SAMPLE, whose place on the timeline is TIME.
bool sample_choice_takes(const struct sample_choice *choice, const struct timeline *timeline,
			 const struct sample *sample, uint64_t time);

#endif
