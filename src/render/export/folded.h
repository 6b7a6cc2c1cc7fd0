// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Folded stacks: "comm;outer;inner COUNT" a line, as FlameGraph's tools read them.
#ifndef RENDER_EXPORT_FOLDED_H
#define RENDER_EXPORT_FOLDED_H

#include <stdio.h>

#include "profile/profile.h"

// Samples of all events are added up; the lines are sorted. A ';' in a name becomes ':', a line
// break a space. Unnamed frames are [buildid:HEX]+0xOFF, so that they can be named later.
struct imp_error *folded_write(const struct profile *profile, FILE *out) MUST_CHECK;

#endif
