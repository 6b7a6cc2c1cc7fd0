// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A profile of fewer samples: those that were taken in some objects, or in some functions.
#ifndef PROFILE_NARROW_H
#define PROFILE_NARROW_H

#include "profile/profile.h"

struct narrowing {
	// Of objects: what tables call them, their path, its last part, or the beginning of the
	// build ID (6 digits at least). NULL-terminated; NULL takes all.
	const char *const *objects;
	// Whole names of functions, as shown or as linked. The innermost of inlined ones counts.
	const char *const *functions;
};

// Takes all other samples out of PROFILE, which is settled (and named, where functions are given),
// and of its events. Their number is added to the origin's `left_out`.
struct imp_error *profile_narrow(struct profile *profile,
				 const struct narrowing *narrowing) MUST_CHECK;

#endif
