// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// speedscope's own JSON.
#ifndef RENDER_EXPORT_SPEEDSCOPE_H
#define RENDER_EXPORT_SPEEDSCOPE_H

#include <stdio.h>

#include "profile/profile.h"

// A profile for each event that has samples, of its stacks with their weights; the command name is
// the outermost frame. Unnamed frames are [buildid:HEX]+0xOFF.
struct imp_error *speedscope_write(const struct profile *profile, FILE *out) MUST_CHECK;

#endif
