// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// pprof's profile.proto, compressed by gzip.
#ifndef RENDER_EXPORT_PPROF_H
#define RENDER_EXPORT_PPROF_H

#include <stdio.h>

#include "base/buffer.h"
#include "profile/profile.h"

// Each event has two values a sample, its number of samples and its weight; the command name is the
// label "comm". Mappings have their build IDs. Unnamed frames are functions called
// [buildid:HEX]+0xOFF.
struct imp_error *pprof_write(const struct profile *profile, FILE *out) MUST_CHECK;

// The same before it is compressed: appended to MESSAGE.
struct imp_error *pprof_encode(const struct profile *profile, struct buffer *message) MUST_CHECK;

#endif
