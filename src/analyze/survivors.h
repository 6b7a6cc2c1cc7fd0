// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Processes of a recording that still run on this machine: what they have mapped can be had from
// them, replaced, deleted or in another mount namespace.
#ifndef ANALYZE_SURVIVORS_H
#define ANALYZE_SURVIVORS_H

#include "analyze/survey.h"
#include "find/finder.h"

// Lets FINDER ask the processes of RECORDING that may be the same ones still: the recording names
// this host or none, and they began before its file was last written. Their mappings are read when
// an image is found neither in the store nor at its path, and each file is held to its own ID, so
// that a process that has the number by chance gives nothing wrong.
struct imp_error *survivors_add(const struct recording *recording, const struct survey *survey,
				struct finder *finder) MUST_CHECK;

#endif
