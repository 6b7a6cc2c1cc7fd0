// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The records of a recording one after the other in the order of time.
//
// A recorder writes what each processor's ring held, ring by ring, and marks each round with
// FINISHED_ROUND: what was written before the last mark but one is older than all that is still to
// come. So only about two rounds are in memory at a time; a recording without marks, or a directory
// whose files each have rounds of their own, is held whole. Records without a time come where they
// stand; of equal times the one that stands first.
#ifndef ANALYZE_REPLAY_H
#define ANALYZE_REPLAY_H

#include "analyze/survey.h"

struct replay_options {
	// Records of other types are left out; 64 bits for types 0 to 63.
	uint64_t types;
	struct imp_error *(*take)(void *arg, const struct record *record);
	void *arg;
};

// RECORDING was opened with one worker, and surveyed.
struct imp_error *replay(struct recording *recording, const struct survey *survey,
			 const struct replay_options *options) MUST_CHECK;

#endif
