// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The stream of meta records: read by a thread of its own as soon as they come, so that neither a
// flood of samples nor a slow disk costs one, and images are looked at while they are there.
#ifndef RECORD_META_H
#define RECORD_META_H

#include "base/buffer.h"
#include "base/error.h"
#include "record/event_set.h"

struct meta;

// Sees each record once, in the order of time as far as one drain of the rings goes; may change it
// in place. Never called twice at once. True when it told of something new, after which more is
// likely to come soon.
typedef bool meta_see(void *arg, uint8_t *record, size_t size);

// Starts the reading of RINGS (lent). SEE may be NULL.
struct imp_error *meta_start(struct rings *rings, meta_see *see, void *arg,
			     struct meta **ret) MUST_CHECK;

// Appends to RET all records that have come since the last call, those still in the rings too.
struct imp_error *meta_take(struct meta *meta, struct buffer *ret) MUST_CHECK;

// True when every process of the target has ended.
bool meta_is_over(struct meta *meta);

// Records the kernel had no room for.
uint64_t meta_lost(struct meta *meta);

// Ends the thread. The rings stay.
void meta_free(struct meta *meta);

#endif
