// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looks at single samples where sightings left in doubt what was hit.
#ifndef ANALYZE_SECOND_LOOK_H
#define ANALYZE_SECOND_LOOK_H

#include "analyze/hit_search.h"

// Looks once more at the chunks of RECORDING that SEARCH chose, and sets is_hit of what samples
// there hit in the windows of its doubts. The timeline is finished.
struct imp_error *second_look(struct recording *recording, const struct survey *survey,
			      struct hit_search *search) MUST_CHECK;

#endif
