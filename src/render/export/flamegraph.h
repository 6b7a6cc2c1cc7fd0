// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A flame graph as one HTML page that needs nothing else: no server, no network, no other file.
//
// Each frame is as wide as its share of the weight; below a command's name stand its stacks, root
// first. The page (flamegraph.html) zooms, searches, tells of each frame the image and its build
// ID, and ends with what has no name and why. Frames of less than 1/5000 of their event's weight
// cannot be seen and are left out, so that the page's size does not grow with the recording; how
// much that is, is said.
#ifndef RENDER_EXPORT_FLAMEGRAPH_H
#define RENDER_EXPORT_FLAMEGRAPH_H

#include <stdio.h>

#include "profile/profile.h"

struct imp_error *flamegraph_write(const struct profile *profile, FILE *out) MUST_CHECK;

#endif
