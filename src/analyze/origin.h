// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a recording's header says of where and how it was made.
#ifndef ANALYZE_ORIGIN_H
#define ANALYZE_ORIGIN_H

#include "perfdata/recording.h"
#include "profile/profile.h"

// Fills in ORIGIN's strings, which are then its own.
struct imp_error *origin_of(const struct recording *recording,
			    struct profile_origin *origin) MUST_CHECK;

#endif
