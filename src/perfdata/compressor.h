// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The bytes of rings as COMPRESSED records: one zstd stream a file, cut into records.
#ifndef PERFDATA_COMPRESSOR_H
#define PERFDATA_COMPRESSOR_H

#include "base/buffer.h"
#include "base/error.h"

struct compressor;

// LEVEL 1 (fastest) to 22.
struct imp_error *compressor_new(int level, struct compressor **ret) MUST_CHECK;
void compressor_free(struct compressor *compressor);

// Appends to OUT the records that inflate to SIZE further bytes; everything given so far can be
// inflated from them.
struct imp_error *compressor_add(struct compressor *compressor, const void *bytes, size_t size,
				 struct buffer *out) MUST_CHECK;

#endif
