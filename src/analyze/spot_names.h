// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Naming a profile's spots: each once, on all processors.
#ifndef ANALYZE_SPOT_NAMES_H
#define ANALYZE_SPOT_NAMES_H

#include "profile/profile.h"
#include "symbolize/symbolizer.h"

// Fills in the names of PROFILE's spots (profile_settle() was called) and what was found in place
// of images. WORKERS 0: one for each processor.
struct imp_error *spots_name(struct profile *profile, struct symbolizer *symbolizer,
			     unsigned workers) MUST_CHECK;

#endif
