// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf_event_attr as bytes, for the kernel and for files: the writing half of perfdata/attr.h.
#ifndef PERFDATA_ATTR_ENCODE_H
#define PERFDATA_ATTR_ENCODE_H

#include "perfdata/attr.h"

// PERF_ATTR_SIZE_VER9, and what perf 6.1 takes at most (it refuses files with larger ones).
enum { ATTR_MOST_BYTES = 144, ATTR_USUAL_BYTES = 128 };

// Writes ATTR (its size field is not looked at) in this machine's byte order and returns its size:
// 128 bytes, or more when a later field is not zero. The rest of BYTES is zeroed.
uint32_t attr_encode(const struct event_attr *attr, uint8_t bytes[ATTR_MOST_BYTES]);

#endif
