// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The LZ4 "legacy" frame, in which kernels pack themselves.
#ifndef ELF_UNPACK_LZ4_H
#define ELF_UNPACK_LZ4_H

#include "base/buffer.h"
#include "base/error.h"

// As unpack(), for bytes that begin with the legacy frame's magic.
struct imp_error *unpack_lz4(const void *bytes, size_t size, size_t limit,
			     struct buffer *ret) MUST_CHECK;

#endif
